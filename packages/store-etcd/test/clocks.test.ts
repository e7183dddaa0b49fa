import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { startStoreProcess } from '../../../test/support/remote-stores.ts';
import { etcdStore } from '../src/index.ts';

const cluster = await etcdForTests();

const hour = 3_600_000;
const acquire = (holder: string, ttlMs: number) => ({ turn: { queue: 'q', acquire: { holder, ttlMs } } });

describe.skipIf(!cluster).each([
  ['an hour ahead', hour],
  ['an hour behind', -hour],
])('A process whose wall clock is %s', (_what, aheadMs) => {
  it('keeps the leases of others, others keep its leases, and both take over those that ran out', async () => {
    const prefix = `clocks/${randomUUID()}`;
    const here = etcdStore(cluster!.urls, { prefix });
    onTestFinished(() => here.close());
    const other = startStoreProcess(aheadMs);
    onTestFinished(() => other.kill());
    const there = other.open('etcd', cluster!.urls, { prefix });
    for (const [name, holder, claimer] of [
      ['here', here, there],
      ['there', there, here],
    ] as const) {
      const claim = () => claimer.claim({ queue: 'q', holder: `by ${name}`, ttlMs: hour, limit: 9 });
      await holder.commit(chunkAfter(0, { taskId: name, ...acquire(name, 60_000) }));
      expect(await claim()).toEqual([]);
      await holder.commit(chunkAfter(0, { taskId: `short ${name}`, ...acquire('short', 50) }));
      await expect.poll(claim).toMatchObject([{ taskId: `short ${name}`, fence: 2 }]);
    }
  });
});

it.skipIf(!cluster)('A wall clock that is set back holds back no turn of a schedule', async () => {
  const other = startStoreProcess();
  onTestFinished(() => other.kill());
  const store = other.open('etcd', cluster!.urls, { prefix: `clocks/${randomUUID()}` });
  await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true, aheadMs: 0 } }));
  await other.setClock(-hour);
  const schedule = { concurrency: 9, perCaller: 9, perContext: 9 };
  const claim = { queue: 'q', holder: 'h', ttlMs: hour, limit: 9, schedule };
  expect(await store.claim(claim)).toMatchObject([{ taskId: 't', fence: 1 }]);
});

it.skipIf(!cluster)(
  'A process whose wall clock is a little ahead is heard of when it adds a task',
  async () => {
    const prefix = `clocks/${randomUUID()}`;
    const here = etcdStore(cluster!.urls, { prefix });
    onTestFinished(() => here.close());
    let isHeard = false;
    await here.subscribe({ queue: 'q' }, () => {
      isHeard = true;
    });
    const other = startStoreProcess(900);
    onTestFinished(() => other.kill());
    await other
      .open('etcd', cluster!.urls, { prefix })
      .commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    await expect.poll(() => isHeard).toBe(true);
  },
);
