import type { Database } from '../database/database.ts';
import { script } from '../database/script.ts';
import { prune as source } from '../lua/prune.ts';

const pruneScript = script(source);

/** How many logs one script visits: Redis serves no other client while it runs. */
const batch = 50;

/** Deletes old logs. Resolves to the number deleted. */
export async function prune(database: Database, closedBefore: string, limit: number): Promise<number> {
  const { all } = await database.shards();
  let total = 0;
  for (const shard of all) {
    let skip = 0;
    for (;;) {
      if (total >= limit) return total;
      const args = [Date.parse(closedBefore), limit - total, skip, batch].map(String);
      const reply = await database.ofShard(pruneScript, shard, args);
      const [deleted, seen] = reply as readonly [number, number];
      total += deleted;
      // Logs that may not be deleted yet keep their places before the next ones.
      skip += seen - deleted;
      if (seen < batch) break;
    }
  }
  return total;
}
