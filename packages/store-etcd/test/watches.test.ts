import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunkAfter, untilItWorks } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdStore } from '../src/index.ts';
import { watchesOf } from '../src/notifications/watches.ts';

const cluster = await etcdForTests();

/** A subscriber whose connection the test can break, and a store that goes another way. */
async function openBehindProxy() {
  const member = cluster!.members[0]!;
  const proxy = await startTcpProxy(member.port);
  onTestFinished(() => proxy.close());
  const prefix = `watches/${randomUUID()}`;
  const [store, writer] = [[`http://127.0.0.1:${proxy.port}`], cluster!.urls].map((urls) =>
    etcdStore(urls, { prefix }),
  );
  onTestFinished(async () => {
    await store!.close();
    await writer!.close();
  });
  await writer!.commit(chunkAfter(0));
  const versions: (number | undefined)[] = [];
  let queued = 0;
  await store!.subscribe({ scope: 's', taskId: 't' }, (version) => versions.push(version));
  await store!.subscribe({ queue: 'q' }, () => {
    queued++;
  });
  return { member, proxy, store: store!, writer: writer!, versions, queued: () => queued };
}

describe.skipIf(!cluster)('A watch whose connection breaks', () => {
  it('goes on at the revision where it was', async () => {
    const { proxy, writer, versions, queued } = await openBehindProxy();
    proxy.freeze();
    for (let version = 1; version < 6; version++) await writer.commit(chunkAfter(version));
    await writer.commit(chunkAfter(0, { taskId: 'u', turn: { queue: 'q', want: true } }));
    proxy.cut();
    proxy.thaw();
    await expect.poll(() => versions.at(-1)).toBe(6);
    // Each event that was missed arrives, and none twice.
    expect(versions).toEqual([2, 3, 4, 5, 6]);
    await expect.poll(queued).toBe(1);
  });

  it('notifies its subscribers to look for themselves where that revision is compacted away', async () => {
    const { member, proxy, writer, versions, queued } = await openBehindProxy();
    proxy.freeze();
    for (let version = 1; version < 6; version++) await writer.commit(chunkAfter(version));
    await writer.commit(chunkAfter(0, { taskId: 'u', turn: { queue: 'q', want: true } }));
    const { header } = await member.ask('kv/range', { key: 'AA==', limit: 1 });
    const { revision } = header as { revision: string };
    await member.ask('kv/compaction', { revision, physical: true });
    proxy.cut();
    proxy.thaw();
    await expect.poll(() => versions).toEqual([undefined]);
    await expect.poll(queued).toBe(1);
    await writer.commit(chunkAfter(6));
    await expect.poll(() => versions).toEqual([undefined, 7]);
  });

  it('begins in time, or the call is refused', async () => {
    const { proxy, store, versions } = await openBehindProxy();
    const impatient = etcdStore([`http://127.0.0.1:${proxy.port}`], { prefix: 'impatient', timeoutMs: 400 });
    onTestFinished(() => impatient.close());
    await untilItWorks(() => impatient.ping());
    proxy.freeze();
    const refused = impatient.subscribe({ queue: 'q' }, () => {});
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    proxy.thaw();
    await store.commit(chunkAfter(1));
    await expect.poll(() => versions).toContain(2);
  });
});

it.skipIf(!cluster)('A process is notified once of a change of its own', async () => {
  const prefix = `watches/${randomUUID()}`;
  const [store, other] = [etcdStore(cluster!.urls, { prefix }), etcdStore(cluster!.urls, { prefix })];
  onTestFinished(async () => {
    await store.close();
    await other.close();
  });
  const notified: unknown[] = [];
  await store.subscribe({ queue: 'q' }, () => notified.push('queue'));
  await store.subscribe({ scope: 's', taskId: 'later' }, (version) => notified.push(version));
  await store.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
  expect(notified).toEqual(['queue']);
  // Watches tell changes in order: that of another process comes after its own.
  await other.commit(chunkAfter(0, { taskId: 'later' }));
  await expect.poll(() => notified).toContain(1);
  expect(notified).toEqual(['queue', 1]);
});

it.skipIf(!cluster)(
  'Watches leave a member that answers no calls, though it keeps their stream',
  async () => {
    const connections = connectionsTo(cluster!.urls, undefined);
    const watches = watchesOf(connections, 20_000);
    onTestFinished(() => {
      watches.close();
      connections.close();
    });
    let streams = 0;
    const open = connections.stream.bind(connections);
    const ended: unknown[] = [];
    connections.stream = async (member, method, timeoutMs) => {
      streams++;
      const stream = await open(member, method, timeoutMs);
      return stream.on('error', ({ details }: { details: string }) => ended.push(details));
    };
    const key = `watches/${randomUUID()}`;
    const values: string[] = [];
    const watch = watches.begin({ key, onEvent: ({ value }) => values.push(`${value}`), onMissed: () => {} });
    await watch.created;
    connections.leave(connections.current);
    await expect.poll(() => streams).toBe(2);
    expect(ended).toEqual(['Cancelled on client']);
    await new Cluster(connections, 20_000).transact({ success: [{ put: { key, value: 'later' } }] });
    await expect.poll(() => values).toEqual(['later']);
  },
);
