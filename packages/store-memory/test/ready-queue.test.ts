import type { Row } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { Log, Logs } from '../src/logs/log.ts';
import { type Candidate, ReadyQueue } from '../src/ready-queue.ts';

const now = Date.UTC(2026, 0, 1);
const statusAt = new Date(now).toISOString();
const head = {
  closed: false,
  contextId: 'c',
  version: 1,
  statusAt,
  statusVersion: 1,
  generation: 1,
  turn: 0,
  attempt: 0,
};
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
});
