import { type Lease, StoreError } from '@batonjs/store';
import { expect, it } from 'vitest';
import { unreadableTasks } from '../../../src/turns/claim/recovery.ts';

const leaseMs = 1_000;
const lease = (taskId: string): Lease => ({
  scope: 's',
  taskId,
  holder: 'h',
  fence: 1,
  queue: 'q',
  cause: 'wanted',
});

/** Tasks on a store that notes for how long leases are kept. */
function retrying(renew: () => Promise<unknown> = async () => []) {
  const renewed: [tasks: string[], ms: number][] = [];
  const reported: [message: string, details: object][] = [];
  const store = {
    renew(leases: readonly Lease[], ms: number) {
      renewed.push([leases.map(({ taskId }) => taskId), ms]);
      return renew();
    },
  };
  const report = (...line: [string, object]) => void reported.push(line);
  const unreadable = unreadableTasks({ store, report, options: { timeouts: { leaseMs } } } as never);
  return { unreadable, renewed, reported };
}
const error = new Error('unreadable');

it('a task that cannot be opened is tried after a lease, then after twice as long, up to ten minutes', async () => {
  const { unreadable, renewed, reported } = retrying();
  for (let n = 0; n < 12; n++) await unreadable.failed(lease('t'), error);
  const pauses = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map((leases) => leases * leaseMs);
  expect(reported).toEqual(
    pauses.map((retryMs, n) => [
      'A claimed task cannot be opened',
      { taskId: 't', failures: n + 1, retryMs, error },
    ]),
  );
  // The first pause is that of the lease.
  expect(renewed).toEqual(pauses.slice(1).map((ms) => [['t'], ms]));
});

it('a task that was opened begins again, others do not', async () => {
  const { unreadable, renewed } = retrying();
  unreadable.opened(lease('t'));
  for (const id of ['t', 'u', 't', 'u']) await unreadable.failed(lease(id), error);
  unreadable.opened(lease('t'));
  for (const id of ['t', 'u']) await unreadable.failed(lease(id), error);
  expect(renewed).toEqual([
    [['t'], 2_000],
    [['u'], 2_000],
    [['u'], 4_000],
  ]);
});

it('a lease that cannot be kept is reported', async () => {
  const down = new StoreError('UNAVAILABLE', 'down');
  const { unreadable, reported } = retrying(() => Promise.reject(down));
  for (let n = 0; n < 2; n++) await unreadable.failed(lease('t'), error);
  expect(reported.at(-1)).toEqual([
    'Could not keep the lease of a task that cannot be opened',
    { taskId: 't', error: down },
  ]);
  await unreadable.close();
});

it('closing gives all leases back, once', async () => {
  const { unreadable, renewed } = retrying();
  for (const id of ['t', 'u']) await unreadable.failed(lease(id), error);
  await unreadable.close();
  await unreadable.close();
  expect(renewed).toEqual([[['t', 'u'], 1]]);
});

it('the oldest of more than ten thousand tasks is forgotten', async () => {
  const { unreadable, renewed } = retrying();
  for (let n = 0; n <= 10_000; n++) await unreadable.failed(lease(`t${n}`), error);
  await unreadable.close();
  expect(renewed[0]![0]).toHaveLength(10_000);
  expect(renewed[0]![0][0]).toBe('t1');
});
