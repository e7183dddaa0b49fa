import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdStore } from '../src/index.ts';
import { inside } from '../src/layout/keys.ts';

const etcd = await etcdForTests();

function open(prefix: string) {
  const store = etcdStore(etcd!.urls, { prefix, timeoutMs: 20_000 });
  onTestFinished(() => store.close());
  return store;
}

/** Does something once, after the next read that names keys only and the read after it: those of a prune. */
function afterReadsOfPrune(act: () => Promise<unknown>): { readonly acted: () => boolean } {
  const { read } = Cluster.prototype;
  let reads = 0;
  const spy = vi.spyOn(Cluster.prototype, 'read').mockImplementation(async function (this: Cluster, ranges) {
    const found = await read.call(this, ranges);
    if (reads > 0 || ranges[0]?.keysOnly) reads += 1;
    if (reads !== 2) return found;
    reads += 1;
    await act();
    return found;
  });
  onTestFinished(() => spy.mockRestore());
  return { acted: () => reads > 2 };
}

describe.skipIf(!etcd)('A log that is pruned', () => {
  it('stays if a webhook is registered that has not been told of its end', async () => {
    const prefix = `prune/${randomUUID()}`;
    const [store, other] = [open(prefix), open(prefix)];
    await store.commit(chunkAfter(0));
    await store.commit(chunkAfter(1, { head: { ...chunkAfter(1).head!, closed: true } }));
    const push = {
      scope: 's',
      taskId: 't',
      id: 'hook',
      config: { id: 'hook', taskId: 't', url: 'https://hooks.example' },
      protocolVersion: '1.0',
      queue: 'q',
      cursor: 1,
    };
    const { acted } = afterReadsOfPrune(() => other.putPushConfig(push, 100));
    const everything = { closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 };
    expect(await store.prune(everything)).toBe(0);
    expect(acted()).toBe(true);
    expect((await other.load('s', 't'))?.version).toBe(2);
    const [delivery] = await other.claimDeliveries({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 9 });
    expect(delivery?.push).toMatchObject({ id: 'hook', cursor: 1 });
    expect(await other.advance(delivery!, { cursor: 2 })).toBe(true);
    expect(await store.prune(everything)).toBe(1);
  });

  it('leaves only the record of its deletion behind', async () => {
    const prefix = `prune/${randomUUID()}`;
    const store = open(prefix);
    const connections = connectionsTo(etcd!.urls, undefined);
    onTestFinished(() => connections.close());
    const large = { text: 'x'.repeat(300_000) };
    const turn = { queue: 'q', want: true, aheadMs: 0 };
    await store.commit(chunkAfter(0, { once: 'key', turn }));
    const [writer] = await store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 });
    const config = { id: 'hook', taskId: 't', url: `https://hooks.example/${'x'.repeat(2_000)}` };
    const push = {
      scope: 's',
      taskId: 't',
      id: 'hook',
      config,
      protocolVersion: '1.0',
      queue: 'q',
      cursor: 2,
    };
    await store.putPushConfig(push);
    const snapshot = { version: 2, ...large } as never;
    const facts = [{ ...chunkAfter(1).facts[0]!, metadata: large } as never];
    const head = { ...chunkAfter(1).head!, closed: true };
    await store.commit(chunkAfter(1, { writer: writer!, facts, snapshot, head }));
    expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 })).toBe(1);
    const keysLeft = async () => {
      const [{ kvs }] = await new Cluster(connections, 20_000).read([
        { ...inside(`${prefix}/`), keysOnly: true },
      ]);
      return kvs.map(({ key }) => String(key).slice(prefix.length));
    };
    const record = [/^\/record-end\/\d+\/deleted\/\d+-\d+\/t$/, /^\/record\/deleted\/\d+-\d+\/t$/];
    expect(await keysLeft()).toEqual(['/clock', '/meta', ...record.map((key) => expect.stringMatching(key))]);
  });
});
