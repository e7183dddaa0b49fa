import { randomUUID } from 'node:crypto';
import type { Rate } from '@batonjs/store';
import { createStore, type Rows } from '@batonjs/store/adapter';
import { describe, expect, it, onTestFinished } from 'vitest';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { clusterClock } from '../src/layout/cluster-clock.ts';
import { inside, keysOf } from '../src/layout/keys.ts';
import { bucketsOf } from '../src/rows/buckets.ts';

const etcd = await etcdForTests();

/** A cluster that notes the leases it was asked for. */
class NotedCluster extends Cluster {
  readonly leases: { readonly ttl: number; readonly id: number }[] = [];

  override async grantLease(ttl: number) {
    const id = await super.grantLease(ttl);
    this.leases.push({ ttl, id });
    return id;
  }
}

function open(timeoutMs: number) {
  const connections = connectionsTo(etcd!.urls, undefined);
  onTestFinished(() => connections.close());
  const cluster = new NotedCluster(connections, timeoutMs);
  const keys = keysOf(`buckets/${randomUUID()}`);
  const kept = bucketsOf({ cluster, keys, clock: clusterClock(cluster, keys.clock) });
  // Takes need nothing but changes.
  const store = createStore('buckets', { change: (step) => kept.change(step, step.wanted.bucket!) } as Rows);
  const take = (name: string, everyMs: number) => store.take!(name, { burst: 1, everyMs } satisfies Rate);
  const count = async () => (await cluster.read([{ ...inside(keys.buckets), countOnly: true }]))[0].count;
  return { cluster, take, count };
}

const slowMs = 1e9;

describe.skipIf(!etcd)('Buckets in etcd', () => {
  it('are kept for a while only when they are full: those of about the same time share a lease', async () => {
    const { cluster, take, count } = open(8_000);
    await take('slow', slowMs);
    await Promise.all(Array.from({ length: 200 }, (_, n) => take(`quick ${n}`, 0.001)));
    expect(cluster.leases.length).toBeLessThan(10);
    const [slow, ...quick] = cluster.leases.map(({ ttl }) => ttl * 1_000);
    expect(slow).toBeGreaterThan(slowMs);
    expect(Math.max(...quick)).toBeLessThan(60_000);
    await expect.poll(count, { timeout: 90_000 }).toBe(1);
    expect(await take('slow', slowMs)).toBeGreaterThan(0);
  });

  it('are taken from though the lease of the last take is over', async () => {
    const { cluster, take, count } = open(20_000);
    await take('one', slowMs);
    await cluster.revokeLease(cluster.leases[0]!.id);
    expect(await count()).toBe(0);
    expect(await take('other', slowMs)).toBe(0);
    expect(await take('other', slowMs)).toBeGreaterThan(0);
    expect(cluster.leases.length).toBe(2);
  });
});
