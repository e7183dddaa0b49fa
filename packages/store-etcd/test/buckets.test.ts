import { afterAll, describe, expect, it } from 'vitest';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { Buckets } from '../src/buckets.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { Connections } from '../src/cluster/connections.ts';
import { ClusterClock } from '../src/layout/cluster-clock.ts';
import { inside, Keys } from '../src/layout/keys.ts';

const etcd = (await canStartEtcd()) ? await startEtcd({ inMemory: true }) : undefined;
afterAll(() => etcd?.stop());

describe.skipIf(!etcd)('etcd', () => {
  it('keeps a full bucket for a while only', async () => {
    const connections = new Connections(etcd!.urls, undefined);
    const cluster = new Cluster(connections, 20_000);
    const keys = new Keys('buckets');
    const buckets = new Buckets(cluster, keys, new ClusterClock(cluster, keys.clock));
    const slow = { burst: 1, everyMs: 1e9 };
    await buckets.take('slow', slow);
    const quick = { burst: 1, everyMs: 0.001 };
    for (let round = 0; round < 7; round++)
      await Promise.all(Array.from({ length: 150 }, (_, n) => buckets.take(`${round} ${n}`, quick)));
    const [range] = await cluster.read([{ ...inside(keys.buckets), countOnly: true }]);
    expect(range!.count).toBeLessThan(300);
    expect(await buckets.take('slow', slow)).toBeGreaterThan(0);
    connections.close();
  });
});
