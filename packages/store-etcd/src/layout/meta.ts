import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { unchanged } from './keys.ts';

/** The version of the layout of keys. */
export const layoutVersion = 7;

/**
 * The identity of the data under a key, which is written if there is none. Rejects with code `UNUSABLE` for another
 * layout.
 */
export async function identityOf(cluster: Cluster, key: string): Promise<string> {
  // Most processes start on data that is there: a read then costs no write of the cluster.
  let kept = await cluster.get(key);
  while (!kept) {
    const value = JSON.stringify({ layout: layoutVersion, identity: randomUUID() });
    await cluster.transact({ compare: [unchanged(key, 0)], success: [{ put: { key, value } }] });
    // Another process may have written it first.
    kept = await cluster.get(key);
  }
  const { layout, identity } = JSON.parse(String(kept.value));
  if (layout === layoutVersion) return identity;
  const message = `Its keys have version ${layout}, and this release takes ${layoutVersion}`;
  throw new StoreError('UNUSABLE', `${cluster.connections.name} was written by another release. ${message}`);
}
