import { randomUUID } from 'node:crypto';
import { createStore, type Rate, type Rows } from '@batonjs/store';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { BucketSweep } from '../src/buckets/bucket-sweep.ts';
import { Buckets } from '../src/buckets/buckets.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { Connections } from '../src/cluster/connections.ts';
import { ClusterClock } from '../src/layout/cluster-clock.ts';
import { inside, keysOf } from '../src/layout/keys.ts';
import type { TxnRequest } from '../src/wire/messages.ts';
import { startBrokenProxy } from './broken-proxy.ts';

const etcd = await etcdForTests();

/** A cluster that notes how many keys each read visited. */
class NotedCluster extends Cluster {
  readonly visited: number[] = [];

  override async transact(request: TxnRequest) {
    const answer = await super.transact(request);
    this.visited.push(...answer.responses.map(({ range }) => range.count));
    return answer;
  }
}

function open(urls = etcd!.urls, timeoutMs = 20_000, prefix = `buckets/${randomUUID()}`) {
  const connections = new Connections(urls, undefined);
  onTestFinished(() => connections.close());
  const cluster = new NotedCluster(connections, timeoutMs);
  const keys = keysOf(prefix);
  const clock = new ClusterClock(cluster, keys.clock);
  const observer = new Cluster(connections, timeoutMs);
  const count = async () => {
    const [range] = await observer.read([{ ...inside(keys.buckets), countOnly: true }]);
    return range.count;
  };
  /** Puts so many buckets that were full at a time, by default long ago. */
  const putFull = async (buckets: number, at = 0) => {
    const all = Array.from({ length: buckets }, (_, n) => ({
      put: { key: keys.bucket(`${n} ${at}`), value: String(at) },
    }));
    for (let start = 0; start < buckets; start += 100)
      await observer.transact({ success: all.slice(start, start + 100) });
  };
  const kept = new Buckets({ cluster, keys, clock });
  // Takes need nothing but changes.
  const store = createStore('buckets', { change: (step) => kept.change(step, step.wanted.bucket!) } as Rows);
  const buckets = { take: (name: string, rate: Rate) => store.take!(name, rate), close: () => kept.close() };
  return { cluster, keys, clock, prefix, count, putFull, buckets };
}

const slow = { burst: 1, everyMs: 1e9 };
const quick = { burst: 1, everyMs: 0.001 };

/** Takes from so many buckets, each once. */
async function takeFrom(buckets: ReturnType<typeof open>['buckets'], count: number) {
  for (let start = 0; start < count; start += 150) {
    const names = Array.from({ length: Math.min(150, count - start) }, (_, n) => `take ${start + n}`);
    await Promise.all(names.map((name) => buckets.take(name, quick)));
  }
}

describe.skipIf(!etcd)('Buckets in etcd', () => {
  it('are kept for a while only when they are full', async () => {
    const { buckets, count } = open();
    await buckets.take('slow', slow);
    await takeFrom(buckets, 1_050);
    await expect.poll(count).toBeLessThan(300);
    expect(await buckets.take('slow', slow)).toBeGreaterThan(0);
    await buckets.close();
  });

  it('are taken from while a sweep gets no answer', async () => {
    const proxy = await startBrokenProxy(etcd!.members[0]!.port);
    onTestFinished(() => proxy.close());
    // Longer than a test may take.
    const { buckets, count, keys } = open([proxy.url], 300_000);
    await takeFrom(buckets, 999);
    let isTaken = false;
    // Where the range ends that a sweep reads first.
    const losing = proxy.loseAnswers(inside(keys.buckets).rangeEnd, async () => isTaken);
    expect(await buckets.take('the thousandth', quick)).toBe(0);
    isTaken = true;
    await losing;
    await expect.poll(count).toBe(0);
    await buckets.close();
  });

  it('are left by a sweep that fails, and deleted by the next one', async () => {
    const { keys, clock, cluster, count, putFull } = open();
    await clock.follow();
    await putFull(10);
    const connections = new Connections(etcd!.urls, undefined);
    connections.close();
    await new BucketSweep({ cluster: new Cluster(connections, 1_000), keys, clock }).run();
    expect(await count()).toBe(10);
    await new BucketSweep({ cluster, keys, clock }).run();
    expect(await count()).toBe(0);
  });

  it('stay if a caller takes from them between the read of a sweep and its deletion', async () => {
    const { cluster, keys, clock, count, putFull, buckets } = open();
    await clock.follow();
    await putFull(10);
    const reading = cluster.read.bind(cluster);
    cluster.read = async (ranges) => {
      const read = await reading(ranges);
      await buckets.take('3 0', slow);
      return read;
    };
    await new BucketSweep({ cluster, keys, clock }).run();
    expect(await count()).toBe(1);
    expect(await buckets.take('3 0', slow)).toBeGreaterThan(0);
    await buckets.close();
  });

  it('are swept in ranges of a bounded size, a bounded number at once, and all of them in the end', async () => {
    const { cluster, keys, clock, count, putFull } = open();
    await clock.follow();
    await putFull(12_000);
    const stay = 1_500;
    await putFull(stay, 1e13);
    const sweep = new BucketSweep({ cluster, keys, clock });
    await sweep.run();
    const left = await count();
    expect(left).toBeLessThan(11_000 + stay);
    expect(left).toBeGreaterThan(2_000 + stay);
    cluster.visited.length = 0;
    for (let sweeps = 0; (await count()) > stay; sweeps++) {
      expect(sweeps).toBeLessThan(10);
      await sweep.run();
    }
    expect(Math.max(...cluster.visited)).toBeLessThan(1_000);
  });

  it('are left by a sweep that begins, where the store closes', async () => {
    const ended = vi.spyOn(BucketSweep.prototype, 'close');
    onTestFinished(() => ended.mockRestore());
    const { buckets } = open();
    await buckets.close();
    expect(ended).toHaveBeenCalledOnce();
  });

  it('are left where a store closes in the middle of a sweep', async () => {
    const { cluster, keys, clock, count, putFull } = open();
    await clock.follow();
    await putFull(5_000);
    const sweep = new BucketSweep({ cluster, keys, clock });
    void sweep.run();
    await sweep.close();
    const left = await count();
    expect(left).toBeGreaterThan(4_000);
    await sweep.run();
    expect(await count()).toBe(left);
  });
});
