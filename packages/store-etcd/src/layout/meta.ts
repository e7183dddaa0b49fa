import { randomUUID } from 'node:crypto';
import { type Layouts, stepsFrom } from '@batonjs/store/adapter';
import type { Cluster } from '../cluster/cluster.ts';
import { type Keys, unchanged } from './keys.ts';

/**
 * The layouts of the data, see `Layouts`. A test compares them with stored data. The first release that keeps data for
 * later ones began with 900.
 */
export const layouts: Layouts<{ readonly cluster: Cluster; readonly keys: Keys }> = {
  current: 900,
  steps: [],
};

/**
 * The identity of the data under a key, which is written if there is none. Brings data of an older layout forward: several
 * processes may do so at once. Rejects with code `UNUSABLE` for a layout that this release does not read.
 */
export async function identityOf(cluster: Cluster, keys: Keys): Promise<string> {
  const { meta: key } = keys;
  // Most processes start on data that is there: a read then costs no write of the cluster.
  let kept = await cluster.get(key);
  while (!kept) {
    const value = JSON.stringify({ layout: layouts.current, identity: randomUUID() });
    await cluster.transact({ compare: [unchanged(key, 0)], success: [{ put: { key, value } }] });
    // Another process may have written it first.
    kept = await cluster.get(key);
  }
  const { layout, identity } = JSON.parse(String(kept.value));
  const names = { data: `"${key}" in ${cluster.connections.name}`, instead: 'another prefix' };
  const [step] = stepsFrom(layout, layouts, names);
  if (!step) return identity;
  await step.run({ cluster, keys });
  const value = JSON.stringify({ layout: step.to, identity });
  await cluster.transact({
    compare: [unchanged(key, kept.modRevision)],
    success: [{ put: { key, value } }],
  });
  return identityOf(cluster, keys);
}
