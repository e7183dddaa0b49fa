import { randomUUID } from 'node:crypto';
import { otherLayout } from '@batonjs/store/adapter';
import type { Cluster } from '../cluster/cluster.ts';
import { unchanged } from './keys.ts';

/**
 * The number of the layout. Data of another number is refused. Each change of the layout adds one: a test compares it with what
 * is stored.
 */
export const layout = 8;

/**
 * The identity of the data under a key, which is written if there is none. Rejects with code `UNUSABLE` for another
 * layout.
 */
export async function identityOf(cluster: Cluster, key: string): Promise<string> {
  // Most processes start on data that is there: a read then costs no write of the cluster.
  let kept = await cluster.get(key);
  while (!kept) {
    const value = JSON.stringify({ layout, identity: randomUUID() });
    await cluster.transact({ compare: [unchanged(key, 0)], success: [{ put: { key, value } }] });
    // Another process may have written it first.
    kept = await cluster.get(key);
  }
  const { layout: found, identity } = JSON.parse(String(kept.value));
  if (found === layout) return identity;
  throw otherLayout(`"${key}" in ${cluster.connections.name}`, found, layout, 'another prefix');
}
