import { StoreError } from '@batonjs/store';
import type { Shard, Shards } from '../database/shards.ts';

/** The only shard. Throws `UNUSABLE` if there are several: no step of Redis Cluster counts the turns of all. */
export function mustBeOneShard({ all }: Shards): Shard {
  if (all.length === 1) return all[0]!;
  throw new StoreError(
    'UNUSABLE',
    `A schedule needs a Redis store with \`shards: 1\`; this one has ${all.length}`,
  );
}
