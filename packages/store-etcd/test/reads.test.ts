import { randomUUID } from 'node:crypto';
import type { Wanted } from '@batonjs/store/adapter';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunk, chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdStore } from '../src/index.ts';
import { clusterClock } from '../src/layout/cluster-clock.ts';
import { keysOf } from '../src/layout/keys.ts';
import { readLog } from '../src/logs/logs.ts';
import { waitingCounts } from '../src/rows/queue-fronts.ts';
import { Reader } from '../src/rows/reader.ts';
import type { TxnRequest } from '../src/wire/messages.ts';

const etcd = await etcdForTests();

/** A cluster that notes how often it is read. */
class CountedCluster extends Cluster {
  reads = 0;
  counts = 0;

  override transact(request: TxnRequest) {
    this.reads++;
    this.counts += request.success?.filter(({ range }) => range?.countOnly).length ?? 0;
    return super.transact(request);
  }
}

describe.skipIf(!etcd)('The tasks that wait in a queue', () => {
  it('are counted once for all who ask at a moment, and now and then if there is much room', async () => {
    const prefix = `reads/${randomUUID()}`;
    const store = etcdStore(etcd!.urls, { prefix });
    onTestFinished(() => store.close());
    const want = async (taskId: string) =>
      store.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true, waitingAtMost: 10_000 } }));
    await Promise.all(['a', 'b', 'c'].map(want));

    const connections = connectionsTo(etcd!.urls, undefined);
    onTestFinished(() => connections.close());
    const cluster = new CountedCluster(connections, 20_000);
    let now = 0;
    const counts = waitingCounts({ cluster, keys: keysOf(prefix) }, () => now);
    const readFor = async (asked: () => Promise<unknown>): Promise<number> => {
      const before = cluster.reads;
      await asked();
      return cluster.reads - before;
    };
    const askAtOnce = () => Promise.all(Array.from({ length: 100 }, () => counts('q', 10)));
    expect(await readFor(async () => expect(await askAtOnce()).toEqual(Array(100).fill(3)))).toBe(1);

    // With little room each moment is counted, and with much room only the first of many.
    await want('d');
    const ask = async (most: number, tasks: number) => expect(await counts('q', most)).toBe(tasks);
    expect(await readFor(() => ask(23, 4))).toBe(1);
    await want('e');
    expect(await readFor(() => ask(25, 4))).toBe(0);
    expect(await readFor(() => ask(24, 5))).toBe(1);
    now += 10;
    expect(await readFor(() => ask(1_000, 5))).toBe(0);
    expect(await readFor(() => ask(200, 5))).toBe(1);
    now += 1_000;
    await want('f');
    expect(await readFor(() => ask(1_000_000, 6))).toBe(1);
  });

  it('are counted for a commit only when the queue may have become full since the last count', async () => {
    const connections = connectionsTo(etcd!.urls, undefined);
    onTestFinished(() => connections.close());
    const cluster = new CountedCluster(connections, 20_000);
    const keys = keysOf(`reads/${randomUUID()}`);
    const db = { cluster, keys, clock: clusterClock(cluster, keys.clock) };
    let now = 0;
    const reader = new Reader(
      db,
      waitingCounts(db, () => now),
    );
    const countsFor = async (wanted: Wanted): Promise<number> => {
      const before = cluster.counts;
      await reader.moment(wanted);
      return cluster.counts - before;
    };
    const commit = { tasks: [], waiting: { queue: 'q', atMost: 1_000_000 } };
    expect(await countsFor(commit)).toBe(1);
    now = 40_000;
    expect(await countsFor(commit)).toBe(0);
    expect(await countsFor({ waiting: commit.waiting })).toBe(1);
    now = 100_000;
    expect(await countsFor(commit)).toBe(1);
  });

  it('are counted again for those who ask while a count runs', async () => {
    const connections = connectionsTo(etcd!.urls, undefined);
    onTestFinished(() => connections.close());
    const cluster = new CountedCluster(connections, 20_000);
    const counts = waitingCounts({ cluster, keys: keysOf('another') });
    const first = counts('q');
    await Promise.resolve();
    await Promise.resolve();
    const later = Promise.all([counts('q'), counts('q')]);
    await Promise.resolve();
    await Promise.resolve();
    expect(cluster.reads).toBe(1);
    await Promise.all([first, later]);
    expect(cluster.reads).toBe(2);
    await counts('q');
    expect(cluster.reads).toBe(3);
  });
});

it.skipIf(!etcd)('A short log is read together with its task, and a longer one right after it', async () => {
  const prefix = `reads/${randomUUID()}`;
  const store = etcdStore(etcd!.urls, { prefix });
  const connections = connectionsTo(etcd!.urls, undefined);
  onTestFinished(async () => {
    await store.close();
    connections.close();
  });
  const cluster = new CountedCluster(connections, 20_000);
  const keys = keysOf(prefix);
  const db = { cluster, keys, clock: clusterClock(cluster, keys.clock) };
  for (const [taskId, length, reads] of [
    ['short', 32, 1],
    ['longer', 33, 2],
  ] as const) {
    for (let version = 0; version < length; version++) await store.commit(chunkAfter(version, { taskId }));
    cluster.reads = 0;
    const log = await readLog(db, 's', taskId);
    expect(cluster.reads).toBe(reads);
    expect(log?.facts.map(({ version, fact }) => [version, fact])).toEqual(
      Array.from({ length }, (_, n) => [n + 1, chunk(n + 1)]),
    );
  }
});
