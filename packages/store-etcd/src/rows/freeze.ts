import { StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { Database } from '../layout/database.ts';
import type { RangeResponse } from '../wire/messages.ts';

/** See `Rows.freeze`. Each transaction that writes compares that the key is not there. */
export async function freeze({ cluster, keys }: Database, ms: number): Promise<void> {
  const key = keys.frozen;
  const isForever = ms === Number.POSITIVE_INFINITY;
  const lease = isForever || ms <= 0 ? undefined : await cluster.grantLease(Math.ceil(ms / 1_000));
  await cluster.transact({ success: [ms > 0 ? { put: { key, value: '', lease } } : { delete: { key } }] });
}

/** Throws where the key was read. */
export function mustTakeWrites({ connections }: Cluster, frozen: RangeResponse | undefined): void {
  if (!frozen || frozen.kvs.length === 0) return;
  const message = `${connections.name} takes no writes: it is being copied to another store, or was`;
  throw new StoreError('UNAVAILABLE', message, { trouble: 'read-only' });
}
