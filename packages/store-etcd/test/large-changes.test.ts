import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { etcdStore } from '../src/index.ts';
import { turnIn } from '../src/layout/keys.ts';
import { openInterrupted } from './interrupted-store.ts';

const etcd = await etcdForTests();

const taskIds = Array.from({ length: 150 }, (_, n) => `t${String(n).padStart(3, '0')}`);

function open() {
  const store = etcdStore(etcd!.urls, { prefix: `large/${randomUUID()}`, timeoutMs: 20_000 });
  onTestFinished(() => store.close());
  return store;
}

const claim = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 500 };
const namesOf = (rows: readonly { readonly taskId: string }[]) => rows.map(({ taskId }) => taskId).sort();

describe.skipIf(!etcd)('What is more than one transaction of etcd takes', () => {
  it.each([
    ['of one caller', () => 's'],
    ['of many callers', (taskId: string) => `caller ${taskId}`],
  ])('is claimed by a schedule in a few claims: turns %s', async (_what, scopeOf) => {
    const store = open();
    const turn = { queue: 'q', want: true, aheadMs: 0 };
    const want = (taskId: string) => store.commit(chunkAfter(0, { scope: scopeOf(taskId), taskId, turn }));
    await Promise.all(taskIds.map(want));
    const schedule = { concurrency: 500, perCaller: 500, perContext: 500 };
    const given = new Map<string, string>();
    for (let claims = 0; claims < 20 && given.size < taskIds.length; claims++) {
      const leases = await store.claim({ ...claim, holder: `h${claims}`, schedule });
      for (const { taskId, holder } of leases) {
        expect(given.has(taskId)).toBe(false);
        given.set(taskId, holder);
      }
    }
    expect([...given.keys()].sort()).toEqual(taskIds);
  });

  it('is claimed at once without a schedule, renewed, and pruned', async () => {
    const store = open();
    const want = (taskId: string) =>
      store.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true } }));
    await Promise.all(taskIds.map(want));
    const leases = await store.claim(claim);
    expect(namesOf(leases)).toEqual(taskIds);
    expect(await store.renew(leases, 60_000)).toEqual(leases);
    const head = { ...chunkAfter(1).head!, closed: true };
    await Promise.all(
      leases.map((writer) => store.commit(chunkAfter(1, { taskId: writer.taskId, head, writer }))),
    );
    expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 500 })).toBe(150);
    expect((await store.list('s', { limit: 9 })).total).toBe(0);
  });

  it('is delivered, postponed, and tried again at once', async () => {
    const store = open();
    for (const taskId of taskIds) {
      await store.commit(chunkAfter(0, { taskId }));
      const config = { id: 'hook', taskId, url: 'https://hooks.example' };
      await store.putPushConfig({
        ...{ scope: 's', taskId, id: 'hook', config, protocolVersion: '1.0', queue: 'q', cursor: 0 },
      });
    }
    const claimAll = async () => {
      const all = [];
      for (
        let some = await store.claimDeliveries(claim);
        some.length > 0;
        some = await store.claimDeliveries(claim)
      )
        all.push(...some);
      return all;
    };
    const deliveries = await claimAll();
    expect(namesOf(deliveries.map(({ push }) => push))).toEqual(taskIds);
    const later = { retryAt: '2100-01-01T00:00:00.000Z', attempts: 1 };
    for (const delivery of deliveries) expect(await store.advance(delivery, later)).toBe(true);
    expect(await claimAll()).toEqual([]);
    await store.retryNow(deliveries.map(({ push }) => push));
    expect(namesOf((await claimAll()).map(({ push }) => push))).toEqual(taskIds);
  });

  it('are leases that ran out beside turns of a schedule: a claim takes them, and the next one the turns', async () => {
    const store = open();
    const want = (taskId: string) =>
      store.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true, aheadMs: 0 } }));
    const [over, waiting] = [taskIds.slice(0, 120), taskIds.slice(120)];
    await Promise.all(over.map(want));
    expect(namesOf(await store.claim({ ...claim, ttlMs: 1 }))).toEqual(over);
    await Promise.all(waiting.map(want));
    const schedule = { concurrency: 500, perCaller: 500, perContext: 500 };
    const taken: string[] = [];
    for (let claims = 0; claims < 20 && taken.length < taskIds.length; claims++)
      taken.push(...namesOf(await store.claim({ ...claim, holder: `h${claims}`, schedule })));
    expect(taken.sort()).toEqual(taskIds);
  });
});

it.skipIf(!etcd)('The last turn of a caller is forgotten ten thousand turns later', async () => {
  const { store, cluster, keys } = openInterrupted(etcd!.urls, `turns/${randomUUID()}`);
  const served = (turn: number) => `${keys.served('q')}${turnIn(turn)}/caller`;
  const row = { queue: 'q', revision: 1, turns: 10_004 };
  const kept = { [keys.queue('q')]: JSON.stringify({ row }), [served(4)]: '', [served(5)]: '' };
  await cluster.transact({ success: Object.entries(kept).map(([key, value]) => ({ put: { key, value } })) });
  await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true, aheadMs: 0 } }));
  const schedule = { concurrency: 1, perCaller: 1, perContext: 1 };
  expect(await store.claim({ ...claim, schedule })).toHaveLength(1);
  expect(await cluster.get(served(4))).toBeUndefined();
  expect(await cluster.get(served(5))).toBeDefined();
});
