import type { TaskRow } from '@batonjs/store/adapter';
import { describe, expect, it } from 'vitest';
import { headAt } from '../../../test/kit/task-logs.ts';
import { Log } from '../src/logs/log.ts';
import { type TurnQueues, turnQueuesOf } from '../src/queues/turn-queues.ts';

const now = Date.UTC(2026, 0, 1);
const head = headAt(1, { statusAt: new Date(now).toISOString() });
const row = (taskId: string, more: Partial<TaskRow> = {}): TaskRow => ({
  ...{
    scope: 's',
    taskId,
    revision: 1,
    version: 1,
    head,
    lastAt: '',
    webhooks: 0,
    queue: 'q',
    wanted: false,
  },
  ...{ fence: 0, holder: undefined, aheadMs: undefined, waitingSince: undefined, dueAt: undefined },
  ...{ leaseUntil: undefined, leasedAt: undefined, turnAt: undefined, endedAt: undefined },
  ...more,
});

/** Queues with these tasks. */
function queuesOf(...rows: readonly TaskRow[]) {
  const queues = turnQueuesOf();
  const logs = new Map(rows.map((one) => [one.taskId, new Log(one)]));
  for (const log of logs.values()) queues.replace(log, undefined, log.row);
  const change = (taskId: string, more: Partial<TaskRow> | undefined) => {
    const log = logs.get(taskId)!;
    const before = log.row;
    const after = more && { ...before, ...more };
    queues.replace(log, before, after);
    if (after) log.row = after;
  };
  return { queues, change };
}

const ids = (rows: readonly { taskId: string }[]) => rows.map(({ taskId }) => taskId);
const ready = (queues: TurnQueues, limit = 4, queue = 'q') => {
  const { waiting, due, left } = queues.ready({ queue, limit, left: limit }, now, now);
  return [ids(waiting), ids(due), ids(left)];
};

describe('the queues of turns', () => {
  it('have the first that wait, that are due and that were left, each in its order', () => {
    const { queues } = queuesOf(
      row('w2', { waitingSince: now + 90 }),
      row('w1', { waitingSince: now - 5 }),
      row('d2', { dueAt: now }),
      row('d1', { dueAt: now - 9 }),
      row('d3', { dueAt: now + 1 }),
      row('l1', { holder: 'a', leaseUntil: now }),
      row('l2', { holder: 'a', leaseUntil: now + 1 }),
      row('elsewhere', { queue: 'p', waitingSince: now }),
      row('idle'),
      row('no queue', { queue: undefined, waitingSince: now }),
    );
    expect(ready(queues)).toEqual([['w1', 'w2'], ['d1', 'd2'], ['l1']]);
    expect(ready(queues, 1)).toEqual([['w1'], ['d1'], ['l1']]);
    expect([queues.waiting('q'), queues.waiting('p'), queues.waiting('nothing')]).toEqual([2, 1, 0]);
    expect(queues.running('q')).toEqual([
      { scope: 's', context: head.contextId },
      { scope: 's', context: head.contextId },
    ]);
  });

  it('keep a task in its place while its row changes, and in one place only', () => {
    const { queues, change } = queuesOf(row('a', { waitingSince: now }), row('b', { waitingSince: now }));
    change('a', { version: 2 });
    expect(ready(queues)).toEqual([['a', 'b'], [], []]);
    change('a', { waitingSince: undefined, holder: 'h', leaseUntil: now });
    expect([ready(queues), queues.waiting('q')]).toEqual([[['b'], [], ['a']], 1]);
    change('a', { leaseUntil: now + 1 });
    expect([ready(queues)[2], ids(queues.held('h'))]).toEqual([[], ['a']]);
    change('a', { holder: undefined, leaseUntil: undefined, dueAt: now });
    expect([ready(queues), queues.held('h'), queues.running('q')]).toEqual([[['b'], ['a'], []], [], []]);
    change('b', { queue: 'p' });
    expect([ready(queues)[0], ready(queues, 4, 'p')[0]]).toEqual([[], ['b']]);
    for (const taskId of ['a', 'b']) change(taskId, undefined);
    expect([ready(queues), ready(queues, 4, 'p')]).toEqual([
      [[], [], []],
      [[], [], []],
    ]);
  });

  it('read no more of 10,000 tasks than they give', () => {
    let reads = 0;
    const counted = (row: TaskRow): Log =>
      Object.defineProperty(new Log(row), 'row', {
        get: () => {
          reads++;
          return row;
        },
      });
    const queues = turnQueuesOf();
    for (let n = 0; n < 10_000; n++) {
      const after = row(`t${n}`, { waitingSince: now + n, turnAt: now + n, aheadMs: 0 });
      queues.replace(counted(after), undefined, after);
    }
    expect(ready(queues)[0]).toEqual(['t0', 't1', 't2', 't3']);
    expect(ids(queues.order.ready('q', 's', [], { now, orderNow: now + 9 }, 3))).toEqual(['t0', 't1', 't2']);
    expect(reads).toBeLessThan(20);
  });
});

describe('the order of turns', () => {
  const ordered = (taskId: string, at: number, more: Partial<TaskRow> = {}) =>
    row(taskId, { waitingSince: now, aheadMs: 0, turnAt: at, ...more });
  const of = (queues: TurnQueues, scope = 's', except: string[] = []) =>
    ids(queues.order.ready('q', scope, except, { now, orderNow: now }, 9));

  it('has the tasks of each caller that may start, of equals the one that came first', () => {
    const { queues, change } = queuesOf(
      ordered('c', now),
      ordered('b', now - 1),
      ordered('a', now),
      ordered('later', now + 1),
      ordered('postponed', now - 5, { waitingSince: undefined, dueAt: now + 5 }),
      ordered('elsewhere', now, { head: { ...head, contextId: 'busy' } }),
      ordered('other', now - 7, { scope: 'r' }),
    );
    expect(of(queues)).toEqual(['b', 'c', 'a', 'elsewhere']);
    expect(of(queues, 's', ['busy'])).toEqual(['b', 'c', 'a']);
    expect(queues.order.callers('q')).toEqual([
      { scope: 's', firstAt: now - 5, turn: 0 },
      { scope: 'r', firstAt: now - 7, turn: 0 },
    ]);
    change('c', { version: 2, turnAt: now - 1 });
    expect(of(queues)).toEqual(['c', 'b', 'a', 'elsewhere']);
    change('other', undefined);
    expect([of(queues, 'r'), queues.order.callers('q').length, queues.order.callers('p')]).toEqual([
      [],
      1,
      [],
    ]);
  });

  it('remembers the last turns of callers, and forgets the oldest', () => {
    const { queues } = queuesOf(ordered('a', now), ordered('b', now, { scope: 'r' }));
    const { order } = queues;
    const turns = () => order.callers('q').map(({ turn }) => turn);
    order.serve({ queue: 'q', scope: 's', turn: 1 });
    order.serve({ queue: 'q', scope: 'r', turn: 2 });
    order.serve({ queue: 'p', scope: 's', turn: 9 });
    expect(turns()).toEqual([1, 2]);
    order.serve({ queue: 'q', scope: 'x', turn: 10_001 });
    expect(turns()).toEqual([0, 2]);
    order.serve({ queue: 'q', scope: 'r', turn: 10_002 });
    expect(turns()).toEqual([0, 10_002]);
  });
});
