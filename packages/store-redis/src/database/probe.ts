import type { Database } from './database.ts';

/** Checks that every shard can be written, and that Redis evicts nothing. */
export async function probe(database: Database): Promise<void> {
  const { all } = await database.shards();
  await Promise.all(
    all.map(async ({ base }) => {
      const key = `${base}probe`;
      // The key expires, in case this was the last probe.
      await database.command('SET', key, '', 'PX', '60000');
      database.mustNotEvict(await database.memory(key));
    }),
  );
}
