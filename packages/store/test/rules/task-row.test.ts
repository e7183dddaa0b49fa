import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskRow } from '../../src/port/rows.ts';
import { placed, stateOf, type TaskFacts } from '../../src/rules/task-row.ts';
import { head, row, writtenAt } from '../a-row.ts';

const dueAt = '2026-03-01T00:00:00.000Z';
const due = Date.parse(dueAt);
const places = ({ waitingSince, dueAt, leaseUntil, turnAt, endedAt }: TaskRow) => ({
  ...{ waitingSince, dueAt, leaseUntil, turnAt, endedAt },
});
const none = {
  waitingSince: undefined,
  dueAt: undefined,
  leaseUntil: undefined,
  turnAt: undefined,
  endedAt: undefined,
};

describe('the places of a row', () => {
  it.each<[string, Partial<TaskFacts>, Partial<TaskRow>]>([
    ['wants nothing', {}, {}],
    ['wants a turn', { wanted: true }, { waitingSince: writtenAt }],
    [
      'wants a turn in a schedule',
      { wanted: true, aheadMs: 30 },
      { waitingSince: writtenAt, turnAt: writtenAt - 30 },
    ],
    ['is due', { head: head(2, { dueAt }) }, { dueAt: due }],
    ['is due in a schedule', { head: head(2, { dueAt }), aheadMs: 30 }, { dueAt: due, turnAt: due - 30 }],
    ['wants a turn and is due', { wanted: true, head: head(2, { dueAt }) }, { waitingSince: writtenAt }],
    [
      'is held',
      { holder: 'h', leaseUntil: 7, wanted: true, aheadMs: 3, head: head(2, { dueAt }) },
      { leaseUntil: 7 },
    ],
    ['has no queue', { queue: undefined, wanted: true, aheadMs: 3 }, {}],
    ['has ended', { head: head(2, { closed: true, dueAt }) }, { endedAt: Date.parse(head(2).statusAt) }],
    ['has no log', { version: 0, head: undefined, wanted: true }, {}],
  ])('of a task that %s', (_, more, expected) => {
    expect(places(row(more))).toEqual({ ...none, ...expected });
  });

  it('are none among ended ones while something is undelivered', () => {
    expect(row({ head: head(2, { closed: true }) }, true).endedAt).toBeUndefined();
  });

  it('keep the time since when a task waits, through anything but a turn', () => {
    const waits = row({ wanted: true });
    const next = (before: TaskRow, more: Partial<TaskFacts>) =>
      placed(before, { ...before, ...more }, false, { now: 1, orderNow: 5_000 });
    expect(next(waits, { version: 3, queue: 'p' }).waitingSince).toBe(writtenAt);
    const held = next(waits, { holder: 'h', wanted: false });
    expect(held.waitingSince).toBeUndefined();
    expect(next(held, { holder: undefined, wanted: true }).waitingSince).toBe(5_000);
  });

  const facts = fc.record({
    head: fc.option(fc.record({ closed: fc.boolean(), dueAt: fc.constantFrom(undefined, dueAt) }), {
      nil: undefined,
    }),
    queue: fc.constantFrom(undefined, 'q'),
    wanted: fc.boolean(),
    holder: fc.constantFrom(undefined, 'h'),
    aheadMs: fc.constantFrom(undefined, 0, 5),
  });

  it('are one of three at most, and every row is a later one than that before', () => {
    fc.assert(
      fc.property(facts, fc.boolean(), ({ head: more, ...rest }, isUndelivered) => {
        const leaseUntil = rest.holder === undefined ? undefined : 9;
        const one = row({ ...rest, leaseUntil, head: more && head(2, more) }, isUndelivered);
        const found = [one.waitingSince, one.dueAt, one.leaseUntil].filter((at) => at !== undefined);
        expect(found.length).toBeLessThanOrEqual(1);
        const isFree = one.waitingSince !== undefined || one.dueAt !== undefined;
        expect(one.turnAt !== undefined).toBe(isFree && one.aheadMs !== undefined);
        if (isFree) expect([one.head?.closed, one.queue]).toEqual([false, 'q']);
        expect(placed(one, one, isUndelivered, { now: 1, orderNow: 1 }).revision).toBe(one.revision + 1);
      }),
    );
    expect(placed(undefined, row(), false, { now: 7.9, orderNow: 1 }).revision).toBe(7);
  });
});

it('a log that is no task has the state of none', () => {
  expect([stateOf(row()), stateOf(row({ head: undefined }))]).toEqual(['', '']);
  expect(stateOf(row({ head: head(2, { state: 'TASK_STATE_WORKING' }) }))).toBe('TASK_STATE_WORKING');
});
