import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { etcdStore } from '../src/index.ts';
import { clusterClock } from '../src/layout/cluster-clock.ts';
import { digestOf, identityOf, timeIn } from '../src/layout/keys.ts';
import { openInterrupted } from './interrupted-store.ts';

const etcd = await etcdForTests();

/** A store that is interrupted, and another one on the same keys. */
function openTwo() {
  const prefix = `meanwhile/${randomUUID()}`;
  const other = etcdStore(etcd!.urls, { prefix, timeoutMs: 20_000 });
  onTestFinished(() => other.close());
  return { ...openInterrupted(etcd!.urls, prefix), other };
}

const claim = (holder: string) => ({ queue: 'q', holder, ttlMs: 60_000, limit: 1 });
const everything = { closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 };

describe.skipIf(!etcd)('What another process does meanwhile', () => {
  it('does not leave a claim empty-handed while tasks wait', async () => {
    const { store, cluster, keys, other } = openTwo();
    for (const taskId of ['a', 'b'])
      await other.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true } }));
    await store.ping();
    const taken: string[] = [];
    cluster.after = {
      text: keys.waiting('q'),
      act: async () => {
        for (const { taskId } of await other.claim(claim('other'))) taken.push(taskId);
      },
    };
    expect((await store.claim(claim('h'))).map(({ taskId }) => taskId)).toEqual(['b']);
    expect(taken).toEqual(['a']);
  });

  it('begins in this process and changes the row of a queue, too: both are written', async () => {
    const { store, cluster, keys, other } = openTwo();
    for (const scope of ['a', 'b'])
      await other.commit(chunkAfter(0, { scope, taskId: 't', turn: { queue: 'q', want: true, aheadMs: 0 } }));
    const claims = (holder: string) => ({ ...claim(holder), schedule: {} });
    const [taken] = await other.claim(claims('other'));
    const scope = taken?.scope === 'a' ? 'b' : 'a';
    await store.ping();
    const hasLooked = Promise.withResolvers<void>();
    let forgotten: Promise<void> | undefined;
    // The row of the task is read with those that are ready, and last with those of its caller.
    const text = keys.task(digestOf(scope, 't'));
    const last = async () => {
      cluster.after = { text: keys.queue('q'), act: async () => hasLooked.resolve() };
      forgotten = store.forgetTurns!('q', taken!.scope);
      await hasLooked.promise;
    };
    cluster.after = {
      text,
      act: async () => {
        cluster.after = { text, act: last };
      },
    };
    expect((await store.claim(claims('h'))).map((lease) => lease.scope)).toEqual([scope]);
    await forgotten;
    expect(cluster.after).toBeUndefined();
  });

  it('removes a webhook: a claim takes the next one, and a list has none without its config', async () => {
    const { store, cluster, keys, other } = openTwo();
    for (const taskId of ['a', 'b']) {
      await other.commit(chunkAfter(0, { taskId }));
      const config = { id: 'w', taskId, url: 'https://hooks.example', token: 'x'.repeat(8_000) };
      const push = { scope: 's', taskId, id: 'w', config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
      await other.putPushConfig(push);
    }
    const removes = (taskId: string) => () => other.removePushConfig('s', taskId, 'w');
    await store.ping();
    cluster.after = { text: keys.deliveries('q'), act: removes('a') };
    expect((await store.claimDeliveries(claim('h'))).map(({ push }) => push.taskId)).toEqual(['b']);
    cluster.after = { text: keys.webhooks(digestOf('s', 'b')), act: removes('b') };
    expect(await store.listPushConfigs('s', 'b', { limit: 9 })).toEqual([]);
    expect(cluster.after).toBeUndefined();
  });

  it('deletes the record that a page begins with: the page has the next one', async () => {
    const { store, cluster, keys, other } = openTwo();
    for (const name of ['r/a', 'r/b']) await other.putRecord(name, 0, name);
    await store.ping();
    const { revision } = (await other.getRecord('r/a'))!;
    cluster.after = { text: keys.records, act: () => other.deleteRecord('r/a', revision) };
    const page = await store.listRecords({ prefix: 'r/', limit: 1 });
    expect(page.map(({ name }) => name)).toEqual(['r/b']);
  });

  it('begins on the same keys: both have one identity, and see when the data is replaced', async () => {
    const { store, cluster, keys, other } = openTwo();
    let first = '';
    cluster.after = {
      text: keys.meta,
      act: async () => {
        first = await other.identity();
      },
    };
    expect(await identityOf(cluster, keys)).toBe(first);
    expect(await store.identity()).toBe(first);
    expect(await other.identity()).toBe(first);
    await cluster.transact({ success: [{ delete: { key: keys.meta } }] });
    const again = await store.identity();
    expect(again).not.toBe(first);
    expect(await other.identity()).toBe(again);
  });

  it('deletes a log: who reads it sees none, and not the end of one', async () => {
    const { store, cluster, other } = openTwo();
    for (let version = 0; version < 40; version++)
      await other.commit(
        chunkAfter(version, version === 39 ? { head: { ...chunkAfter(39).head!, closed: true } } : {}),
      );
    await store.ping();
    cluster.after = { text: '/snapshot/', act: () => other.prune(everything) };
    expect(await store.load('s', 't')).toBeUndefined();
    expect(cluster.after).toBeUndefined();
  });

  it('deletes a log: a commit that was sent twice and changed nothing is not taken for written', async () => {
    const { store, cluster, other } = openTwo();
    await store.commit(chunkAfter(0));
    const act = async () => {
      await other.commit(
        chunkAfter(1, { commitId: 'another', head: { ...chunkAfter(1).head!, closed: true } }),
      );
      await other.prune(everything);
    };
    cluster.isRepeated = true;
    cluster.before = { text: 'commit 2', act };
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('writes, and an operator compacts: a list is read again at a later moment', async () => {
    const { store, cluster, other } = openTwo();
    await other.commit(chunkAfter(0));
    await store.ping();
    const compact = async () => {
      await other.commit(chunkAfter(1));
      const [member] = etcd!.members;
      const { header } = await member!.ask('kv/range', { key: 'AA==', limit: 1 });
      const { revision } = header as { revision: string };
      await member!.ask('kv/compaction', { revision, physical: true });
    };
    cluster.after = { text: '/list/', act: compact };
    const { tasks } = await store.list('s', { limit: 9 });
    expect(tasks.map(({ head }) => head.version)).toEqual([2]);
  });

  it('replaces a large snapshot: who loads the log has the one of its moment', async () => {
    const { store, cluster, other } = openTwo();
    const text = 'x'.repeat(300_000);
    const commit = async (version: number) =>
      other.commit(chunkAfter(version, { snapshot: { version: version + 1, text } as never }));
    await commit(0);
    await store.ping();
    cluster.after = { text: '/snapshot/', act: () => commit(1) };
    expect(await store.load('s', 't')).toMatchObject({ version: 1, snapshot: { version: 1, text } });
  });

  it.each([
    ['begins it', undefined],
    ['moves it on', timeIn(Date.now() - 3_600_000)],
  ])('to the clock of leases never makes it go back: it %s', async (_what, begun) => {
    const { cluster, keys } = openTwo();
    const { key, later } = { key: keys.clock, later: timeIn(Date.now() + 3_600_000) };
    const put = (value: string) => cluster.transact({ success: [{ put: { key, value } }] });
    if (begun) await put(begun);
    const clock = clusterClock(cluster, key);
    cluster.before = { text: `"put":{"key":"${key}"`, act: () => put(later) };
    // It is written when it is there and has not been for a while.
    const isLater = async () => {
      await clock.follow();
      return clock.now() >= Number(later);
    };
    await expect.poll(isLater).toBe(true);
    expect(String((await cluster.get(key))?.value) >= later).toBe(true);
  });

  it('is not known, as etcd does not answer: the clock of leases goes on', async () => {
    const { cluster, keys } = openTwo();
    const clock = clusterClock(cluster, keys.clock);
    await clock.follow();
    const began = clock.now();
    cluster.before = { text: keys.clock, act: () => Promise.reject(new Error('No answer')) };
    while (cluster.before) {
      await clock.follow();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await clock.moment()).leaseNow).toBeGreaterThan(began);
  });
});
