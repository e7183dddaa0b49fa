import type { Row } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { headAt } from '../../../test/kit/task-logs.ts';
import { Log, Logs } from '../src/logs/log.ts';
import { type Candidate, ReadyQueue } from '../src/ready-queue.ts';

const now = Date.UTC(2026, 0, 1);
const head = headAt(1, { statusAt: new Date(now).toISOString() });
const row = (more: Partial<Row>): Row => ({ version: 1, head, queue: 'q', wanted: false, fence: 0, ...more });

/** Logs that count how often they are read. */
function crowd(queue: ReadyQueue, logs: Logs, size: number, make: (n: number) => Row) {
  const reads = { count: 0 };
  class Counted extends Log {
    override get row(): Row {
      reads.count++;
      return super.row;
    }
  }
  for (let n = 0; n < size; n++) {
    const after = make(n);
    const log = new Counted('s', `t${n}`, after);
    logs.add(log);
    queue.replace(log, undefined, after, now + n);
  }
  return reads;
}

const logOf = (taskId: string, row: Row): Log => new Log('s', taskId, row);

/** Replaces the row of a log. */
function change(queue: ReadyQueue, log: Log, more: Partial<Row>, at: number): void {
  const before = log.row;
  log.row = { ...before, ...more };
  queue.replace(log, before, log.row, at);
}

const request = { queue: 'q', holder: 'h', ttlMs: 1_000, limit: 4 };
const ids = (candidates: readonly Candidate[]) => candidates.map(({ log }) => log.taskId);

describe('the ready queue', () => {
  it.each<[string, (n: number) => Row]>([
    ['held', (n) => row({ holder: `h${n}`, fence: 1, leaseUntil: now + 60_000 + n })],
    [
      'waiting for their clocks',
      (n) => row({ head: { ...head, dueAt: new Date(now + 60_000 + n).toISOString() } }),
    ],
    ['idle', () => row({})],
  ])('does not read 10,000 tasks that are %s', (_, make) => {
    const logs = new Logs();
    const queue = new ReadyQueue(logs);
    const reads = crowd(queue, logs, 10_000, make);
    expect(queue.candidates(request, now, now)).toEqual([]);
    expect(reads.count).toBe(0);
  });

  it('reads as many wanted tasks as it gives out, the oldest first', () => {
    const logs = new Logs();
    const queue = new ReadyQueue(logs);
    const reads = crowd(queue, logs, 10_000, () => row({ wanted: true }));
    expect(ids(queue.candidates(request, now + 60_000, now + 60_000))).toEqual(['t0', 't1', 't2', 't3']);
    expect(ids(queue.candidates({ ...request, taskId: 't9000' }, now + 60_000, now + 60_000))).toEqual([
      't9000',
    ]);
    expect(reads.count).toBeLessThan(20);
    expect(queue.waiting('q')).toBe(10_000);
  });

  it('gives out what ran out longest ago first, whatever it is', () => {
    const logs = new Logs();
    const queue = new ReadyQueue(logs);
    crowd(
      queue,
      logs,
      3,
      (n) =>
        [
          row({ holder: 'dead', fence: 1, leaseUntil: now - 10 }),
          row({ head: { ...head, dueAt: new Date(now - 20).toISOString() } }),
          row({ wanted: true }),
        ].at(n)!,
    );
    expect(ids(queue.candidates(request, now + 5, now + 5))).toEqual(['t1', 't0', 't2']);
  });

  it('gives out a task that waits in its turn, though its row changes meanwhile', () => {
    const queue = new ReadyQueue(new Logs());
    const [a, b] = ['a', 'b'].map((taskId) => logOf(taskId, row({ wanted: true })));
    for (const [n, log] of [a!, b!].entries()) queue.replace(log, undefined, log.row, now + n);
    change(queue, a!, { version: 2 }, now + 2);
    expect(ids(queue.candidates(request, now + 5, now))).toEqual(['a', 'b']);
  });

  it('gives a holder what it holds first, and not what it held', () => {
    const queue = new ReadyQueue(new Logs());
    const lease = { fence: 1, leaseUntil: now };
    const [was, is] = ['was', 'is'].map((taskId) => logOf(taskId, row({ holder: 'h', ...lease })));
    const waits = logOf('waits', row({ wanted: true }));
    for (const log of [was!, is!, waits]) queue.replace(log, undefined, log.row, now);
    expect(ids(queue.candidates({ ...request, taskId: 'is' }, now, now - 1))).toEqual(['is']);
    // It wants another turn, but does not wait for it while it has one.
    change(queue, is!, { wanted: true }, now);
    expect(queue.waiting('q')).toBe(1);
    change(queue, was!, { holder: undefined, leaseUntil: undefined, wanted: true }, now + 1);
    expect(ids(queue.candidates(request, now + 1, now - 1))).toEqual(['is', 'waits', 'was']);
    // Its lease went to another holder, until the same time.
    change(queue, is!, { holder: 'other' }, now + 1);
    expect(ids(queue.candidates({ ...request, limit: 1 }, now + 1, now - 1))).toEqual(['waits']);
    expect(ids(queue.candidates({ ...request, holder: 'other', limit: 1 }, now + 1, now - 1))).toEqual([
      'is',
    ]);
  });

  it('gives out as many as are asked for, whatever else is held or closed', () => {
    const queue = new ReadyQueue(new Logs());
    const dueAt = new Date(now - 20).toISOString();
    const closed = logOf('closed', row({ head: { ...head, closed: true, dueAt } }));
    const elsewhere = row({ queue: 'other', holder: 'h', fence: 1, leaseUntil: now + 60_000 });
    const waiting = ['a', 'b'].map((taskId) => logOf(taskId, row({ wanted: true })));
    for (const log of [closed, logOf('elsewhere', elsewhere), ...waiting])
      queue.replace(log, undefined, log.row, now);
    expect(ids(queue.candidates({ ...request, limit: 2 }, now, now))).toEqual(['a', 'b']);
    const alone = new ReadyQueue(new Logs());
    for (const log of [closed, waiting[0]!]) alone.replace(log, undefined, log.row, now);
    expect(ids(alone.candidates({ ...request, limit: 1 }, now, now))).toEqual(['a']);
  });

  it('gives out nothing that is gone', () => {
    const queue = new ReadyQueue(new Logs());
    const ordered = logOf('ordered', row({ wanted: true, aheadMs: 0 }));
    queue.replace(ordered, undefined, ordered.row, now);
    queue.replace(ordered, ordered.row, undefined, now);
    expect(queue.candidates({ ...request, taskId: 'ordered' }, now, now)).toEqual([]);
    expect(queue.candidates({ ...request, schedule: { concurrency: 9 } }, now, now)).toEqual([]);
  });

  it('gives a turn in place of a lease that its holder is about to renew', () => {
    const queue = new ReadyQueue(new Logs());
    const kept = logOf('kept', row({ holder: 'busy', fence: 1, leaseUntil: now - 1, aheadMs: 0 }));
    const waits = logOf('waits', row({ wanted: true, aheadMs: 0 }));
    for (const log of [kept, waits]) queue.replace(log, undefined, log.row, now);
    const isKept = (holder: string) => holder === 'busy';
    const one = { ...request, limit: 1, schedule: { concurrency: 9 }, isKept };
    expect(ids(queue.candidates(one, now, now))).toEqual(['waits']);
  });
});
