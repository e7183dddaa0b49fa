import type { RowPage } from '@batonjs/store/rules';
import { listOf } from '../connection/driver.ts';
import type { Database } from '../database/database.ts';
import { script } from '../database/script.ts';
import { every } from '../lua/every.ts';

const everyScript = script(every);

/** See `Rows.every`. A page begins at a shard, and at a cursor of `SCAN` there. Keys that a Cluster moves may be missed. */
export async function everyTask(database: Database, from = '0 0', limit: number): Promise<RowPage> {
  const [part, cursor = '0'] = from.split(' ');
  const shards = await database.shards();
  const shard = shards.at(Number(part));
  // The characters that a pattern gives a meaning.
  const pattern = `${shard.base.replaceAll(/[\\*?[\]^-]/g, '\\$&')}task:*`;
  // Keys of other kinds count, too.
  const count = String(Math.max(limit, 500));
  const reply = await database.ofShard(everyScript, shard, [cursor, count, pattern]);
  const [next, ...rows] = listOf(reply).map(String);
  const following = next === '0' ? `${Number(part) + 1} 0` : `${part} ${next}`;
  const isLast = next === '0' && Number(part) + 1 === shards.all.length;
  return { rows: rows.map((row) => JSON.parse(row)), next: isLast ? undefined : following };
}

/** See `Rows.freeze`. Scripts that write look at the key. */
export async function freeze(database: Database, ms: number): Promise<void> {
  const { all } = await database.shards();
  const forMs = ms === Number.POSITIVE_INFINITY ? [] : ['PX', String(Math.ceil(ms))];
  for (const { base } of all)
    await (ms > 0
      ? database.command('SET', `${base}frozen`, '', ...forMs)
      : database.command('DEL', `${base}frozen`));
}
