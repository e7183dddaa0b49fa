import { StoreError } from '@batonjs/store';
import type { Database } from './database.ts';

const frozen = () =>
  new StoreError('UNAVAILABLE', 'Redis takes no writes: its tasks are being copied, or were', {
    trouble: 'read-only',
  });

/** Checks that every shard can be written, and that Redis evicts nothing. */
export async function probe(database: Database): Promise<void> {
  const { all } = await database.shards();
  await Promise.all(
    all.map(async ({ base }) => {
      const key = `${base}probe`;
      // The key expires, in case this was the last probe.
      await database.command('SET', key, '', 'PX', '60000');
      if (Number(await database.command('EXISTS', `${base}frozen`)) > 0) throw frozen();
      database.mustNotEvict(await database.memory(key));
    }),
  );
}
