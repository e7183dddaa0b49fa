import type { State } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../src/base/system/new-id.ts';
import type { TaskTimeouts } from '../../../src/base/timeouts.ts';
import { isoTime, momentOf, systemClock } from '../../../src/base/timing/clock.ts';
import { deadlineOf, dueWhileRunning } from '../../../src/turns/order/deadline-watch.ts';
import { completeSchedule } from '../../../src/turns/order/schedule.ts';
import { wakeCommand } from '../../../src/turns/order/wake-time.ts';

const now = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(now + ms).toISOString();

describe('a turn that asks for another one', () => {
  const ask = (immediateWakes: State['immediateWakes'], time: string | undefined, turn = 5) =>
    wakeCommand({ immediateWakes, openTurn: { number: turn } } as unknown as State, time, now);

  it.each<[string, State['immediateWakes'], string | undefined, object]>([
    ['never', { turn: 4, count: 3 }, undefined, { time: undefined }],
    ['later', { turn: 4, count: 3 }, at(1), { time: at(1) }],
    ['now', undefined, at(0), { time: at(0), immediateWakes: 1 }],
    ['in the past', undefined, at(-5), { time: at(-5), immediateWakes: 1 }],
    ['a second time in a row', { turn: 4, count: 1 }, at(0), { time: at(1_000), immediateWakes: 2 }],
    ['a third time', { turn: 4, count: 2 }, at(0), { time: at(2_000), immediateWakes: 3 }],
    ['again in the same turn', { turn: 5, count: 2 }, at(0), { time: at(1_000), immediateWakes: 2 }],
    ['again in the first turn', { turn: 5, count: 1 }, at(0), { time: at(0), immediateWakes: 1 }],
    ['a seventh time', { turn: 4, count: 6 }, at(0), { time: at(32_000), immediateWakes: 7 }],
    ['an eighth time', { turn: 4, count: 7 }, at(0), { time: at(60_000), immediateWakes: 8 }],
    ['forever', { turn: 4, count: 900 }, at(0), { time: at(60_000), immediateWakes: 901 }],
  ])('%s', (_, immediateWakes, time, command) => {
    expect(ask(immediateWakes, time)).toEqual({ type: 'set-wake', ...command });
  });

  it('outside of a turn is counted as any', () => {
    expect(
      wakeCommand({ immediateWakes: { turn: 4, count: 1 }, openTurn: undefined }, at(0), now),
    ).toMatchObject({
      immediateWakes: 2,
    });
  });
});

describe('the deadline of a task', () => {
  const state = (more: object = {}): State =>
    ({ createdAt: at(0), at: at(40), pending: [], ...more }) as unknown as State;
  const asked = (name: string, ms: number) => ({
    task: { status: { state: `TASK_STATE_${name}`, timestamp: at(ms) } },
  });

  it.each<[string, State, TaskTimeouts, number | undefined]>([
    ['is none without timeouts', state(), {}, undefined],
    ['begins with its first message', state(), { taskMs: 100 }, 100],
    ['begins when it was postponed to', state({ notBefore: at(50) }), { taskMs: 100 }, 150],
    ['comes after a question', state(asked('INPUT_REQUIRED', 30)), { interruptedMs: 20 }, 50],
    ['comes after a request for credentials', state(asked('AUTH_REQUIRED', 30)), { interruptedMs: 20 }, 50],
    [
      'does not come after a question that has its answer',
      state({ ...asked('INPUT_REQUIRED', 30), pending: [{ at: at(50) }] }),
      { interruptedMs: 20 },
      undefined,
    ],
    [
      'comes after a question whose answer came too late',
      state({ ...asked('INPUT_REQUIRED', 30), pending: [{ at: at(51) }] }),
      { interruptedMs: 20 },
      50,
    ],
    ['does not come while it works', state(asked('WORKING', 30)), { interruptedMs: 20 }, undefined],
    ['is the earlier: the end', state(asked('INPUT_REQUIRED', 30)), { interruptedMs: 90, taskMs: 100 }, 100],
    [
      'is the earlier: the question',
      state(asked('INPUT_REQUIRED', 30)),
      { interruptedMs: 20, taskMs: 100 },
      50,
    ],
    ['is none of a log that is no task', state(), { interruptedMs: 20 }, undefined],
  ])('%s', (_, one, timeouts, ms) => {
    expect(deadlineOf(one, timeouts)).toBe(ms === undefined ? undefined : now + ms);
    expect(dueWhileRunning(one, timeouts)).toBe(ms === undefined ? undefined : now + ms);
  });

  it('while a turn works comes after its last update, if that is earlier', () => {
    expect(dueWhileRunning(state(), { inactivityMs: 10 })).toBe(now + 50);
    expect(dueWhileRunning(state(), { inactivityMs: 10, taskMs: 30 })).toBe(now + 30);
    expect(dueWhileRunning(state(), { inactivityMs: 10, taskMs: 100 })).toBe(now + 50);
  });
});

describe('a moment', () => {
  it('is written with milliseconds, later rather than earlier', () => {
    expect([momentOf(now), momentOf(new Date(now + 1)), momentOf(now + 1.2)]).toEqual([at(0), at(1), at(2)]);
    expect([momentOf(0), momentOf(Date.UTC(9999, 11, 31, 23, 59, 59, 999))]).toEqual([
      '1970-01-01T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
    ]);
    expect([isoTime(now), isoTime(now + 1), isoTime(now)]).toEqual([at(0), at(1), at(0)]);
  });

  it.each([-1, Number.NaN, Date.UTC(10_000, 0, 1), Number.POSITIVE_INFINITY])('is not %s', (time) => {
    expect(() => momentOf(time)).toThrow(new RangeError(`A time is from 1970 to 9999, not ${String(time)}`));
  });
});

describe('a new id', () => {
  it('is a UUID of version 7 with the time, and the random bits of its clock', () => {
    const ids = [0, 0.5, 0.999_999_999_9].map((random) =>
      newId({ ...systemClock, now: () => 0x0123_4567_89ab, random: () => random }),
    );
    expect(ids).toEqual([
      '01234567-89ab-7000-8000-000000000000',
      '01234567-89ab-7080-8000-008000000080',
      '01234567-89ab-7fff-bfff-ffffffffffff',
    ]);
  });

  it('is another one each time, beyond those whose bits are fetched at once', () => {
    const ids = Array.from({ length: 600 }, () => newId({ ...systemClock, now: () => 1 }));
    expect(new Set(ids).size).toBe(600);
    for (const id of ids) expect(id).toMatch(/^00000000-0001-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});

describe('a schedule', () => {
  const store = memoryStore();

  it('is none, or has what was given', () => {
    expect(completeSchedule(undefined, store)).toBeUndefined();
    expect(completeSchedule({}, store)).toEqual({ turns: {}, priorityMs: 60_000 });
    const turns = { concurrency: 1, perCaller: 2, perContext: 3 };
    expect(completeSchedule({ ...turns, priority: 0 }, store)).toEqual({ turns, priorityMs: 0 });
    expect(completeSchedule({ priority: 86_400_000 }, store)!.priorityMs).toBe(86_400_000);
  });

  it.each([
    [{ concurrency: 0 }, '`queue.concurrency` must be a whole number, 1 or more'],
    [{ perCaller: 1.5 }, '`queue.perCaller` must be a whole number, 1 or more'],
    [{ perContext: -1 }, '`queue.perContext` must be a whole number, 1 or more'],
    [{ priority: -1 }, '`queue.priority` must be milliseconds, from 0 to those of a day'],
    [{ priority: 86_400_001 }, '`queue.priority` must be milliseconds, from 0 to those of a day'],
    [{ priority: Number.NaN }, '`queue.priority` must be milliseconds, from 0 to those of a day'],
  ])('is not %j', (given, message) => {
    expect(() => completeSchedule(given, store)).toThrow(new TypeError(message));
  });

  it('needs a store that keeps one', () => {
    const without = { ...store, schedules: undefined } as unknown as typeof store;
    expect(() => completeSchedule({}, without)).toThrow(
      new TypeError('`queue` needs a store that can keep one'),
    );
  });
});
