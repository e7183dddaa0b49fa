import type { Fact } from '@batonjs/lifecycle';
import { expect, it } from 'vitest';
import type { LiveTask } from '../../../src/log/live-task.ts';
import { isSpent } from '../../../src/turns/retries/attempts.ts';

const start = (turn: number, alone?: boolean) => ({ type: 'turn-started', turn, alone });
const working = (message?: object) => ({
  type: 'status-changed',
  status: { state: 'TASK_STATE_WORKING', message },
});

/** Whether the third turn of a log has had its attempts, and how often the log was read. */
async function spent(facts: readonly object[], attempt: number, maxAttempts: number, ended: object = {}) {
  let reads = 0;
  const store = {
    async readFacts(scope: string, taskId: string, after: number, limit: number) {
      expect([scope, taskId]).toEqual(['s', 't']);
      reads++;
      return facts
        .map((fact, n) => ({ version: n + 1, commitId: 'c', fact: fact as Fact }))
        .slice(after, after + limit);
    },
  };
  const live = { scope: 's', taskId: 't', dependencies: { store } } as unknown as LiveTask;
  return [await isSpent(live, { number: 3, attempt, ...ended } as never, maxAttempts), reads];
}

it('a turn has at least so many attempts, and three times as many at most, whatever they did', async () => {
  const alone = [start(3, true), start(3, true)];
  expect(await spent(alone, 1, 2)).toEqual([false, 0]);
  expect(await spent(alone, 2, 2)).toEqual([true, 1]);
  const crowd = Array.from({ length: 6 }, () => start(3));
  expect(await spent(crowd.slice(0, 5), 5, 2)).toEqual([false, 1]);
  expect(await spent(crowd, 6, 2)).toEqual([true, 0]);
});

it('an attempt that ran alone counts, one in a crowd that wrote nothing does not', async () => {
  expect(await spent([start(3), start(3, true)], 2, 2)).toEqual([false, 1]);
  expect(await spent([start(3), start(3, true), start(3, true)], 3, 2)).toEqual([true, 1]);
  expect(await spent([start(3, false), start(3, false)], 2, 1)).toEqual([false, 1]);
});

it.each<[string, object, boolean]>([
  ['an artifact', { type: 'artifact-updated' }, true],
  ['a step', { type: 'step-completed' }, true],
  ['a child', { type: 'child-updated' }, true],
  ['a step that failed', { type: 'step-failed' }, true],
  ['memory', { type: 'memory-changed' }, true],
  ['a callback', { type: 'callback-opened' }, true],
  ['the value of a callback', { type: 'callback-received' }, false],
  ['a message it took', { type: 'message-taken' }, true],
  ['a status', { type: 'status-changed', status: { state: 'TASK_STATE_INPUT_REQUIRED' } }, true],
  ['a word about its work', working({ parts: [] }), true],
  ['the status with which a turn goes on', working(), false],
  ['a message', { type: 'message-received' }, false],
  ['its creation', { type: 'task-created' }, false],
  ['an answer', { type: 'answered' }, false],
  ['the end of a turn', { type: 'turn-ended' }, false],
  ['a wake-up', { type: 'woken' }, false],
  ['a time to wake', { type: 'wake-set' }, false],
  ['a cancel', { type: 'cancel-requested' }, false],
])('an attempt after which the log has %s has written: %s', async (_, fact, counts) => {
  expect(await spent([start(3), fact], 1, 1)).toEqual([counts, 1]);
  // What came before an attempt is not its own.
  expect(await spent([fact, start(3)], 1, 1)).toEqual([false, 1]);
});

it.each(['turn-failed', 'turn-paused'])('an attempt that ended as %s does not count', async (type) => {
  const ended = [start(3, true), { type: 'step-completed' }, { type }];
  expect(await spent([...ended, start(3, true)], 2, 2)).toEqual([false, 1]);
  expect(await spent([...ended, start(3, true)], 2, 1)).toEqual([true, 1]);
  expect(await spent([...ended, start(3, true), ...ended, start(3, true)], 4, 2)).toEqual([true, 1]);
  // What an attempt before had written is not forgotten.
  expect(await spent([start(3), { type: 'step-completed' }, ...ended], 2, 1)).toEqual([true, 1]);
  // One of an earlier turn.
  expect(await spent([start(2, true), { type }, start(3, true)], 1, 1)).toEqual([true, 1]);
});

it('a turn that was paused and failed often is not spent by that', async () => {
  expect(await spent([start(3, true)], 40, 2, { failures: 20, pauses: 19 })).toEqual([false, 0]);
  expect(await spent([start(3, true), start(3, true)], 41, 2, { failures: 20, pauses: 19 })).toEqual([
    true,
    1,
  ]);
  expect(await spent([], 45, 2, { failures: 20, pauses: 19 })).toEqual([true, 0]);
});

it('attempts of earlier turns do not count', async () => {
  expect(await spent([start(1, true), start(2, true), start(3)], 1, 1)).toEqual([false, 1]);
});

it('a long log is read to its end, in parts', async () => {
  const others = Array.from({ length: 255 }, () => ({ type: 'message-received' }));
  expect(await spent([...others, start(3, true)], 1, 1)).toEqual([true, 2]);
  expect(await spent([...others, ...others, start(3, true)], 1, 1)).toEqual([true, 2]);
  expect(await spent([...others, ...others, ...others], 1, 1)).toEqual([false, 3]);
});
