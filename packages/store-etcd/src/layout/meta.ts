import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';

/** The version of the layout of keys. */
export const layoutVersion = 1;

/**
 * The identity of the data under a key, which is written if there is none. Rejects with code `UNUSABLE` for another
 * layout.
 */
export async function identityOf(cluster: Cluster, key: string): Promise<string> {
  const value = JSON.stringify({ layout: layoutVersion, identity: randomUUID() });
  // Most processes start on data that is there: a read then costs no write of the cluster.
  const [range] = await cluster.read([{ key }]);
  let kept = range!.kvs[0]?.value;
  if (!kept) {
    const { response } = await cluster.transact({
      compare: [{ result: 0, target: 1, key, createRevision: 0 }],
      success: [{ put: { key, value } }, { range: { key } }],
      failure: [{ range: { key } }],
    });
    kept = response.responses.at(-1)!.range!.kvs[0]!.value;
  }
  const { layout, identity } = JSON.parse(String(kept));
  if (layout === layoutVersion) return identity;
  const message = `Its keys have version ${layout}, and this release takes ${layoutVersion}`;
  throw new StoreError('UNUSABLE', `${cluster.connections.name} was written by another release. ${message}`);
}
