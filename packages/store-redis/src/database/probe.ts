import type { Database } from './database.ts';

/** Finds out whether every shard can be written, and whether Redis still keeps what is stored. */
export async function probe(database: Database): Promise<void> {
  const { all } = await database.shards();
  await Promise.all(
    all.map(async ({ base }) => {
      const key = `${base}probe`;
      // Goes by itself, should this be the last probe for long.
      await database.command('SET', key, '', 'PX', '60000');
      database.mustNotEvict(await database.memory(key));
    }),
  );
}
