import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { migrate } from '../src/database/migrate.ts';
import { storeOnDatabase } from '../src/store-on-database.ts';

it('Full buckets are deleted by and by, and commits wait for the disk as before', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec('PRAGMA synchronous = FULL');
  migrate(db, ':memory:');
  let now = 0;
  const store = storeOnDatabase(db, { name: 'm', shared: false, now: Date.now, monotonic: () => now });
  const slow = { burst: 1, everyMs: 1e9 };
  await store.take!('slow', slow);
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => store.take!(`${round} ${n}`, { burst: 1, everyMs: 1 })),
    );
    now += 10;
  }
  expect(db.prepare('SELECT count(*) AS count FROM buckets').get()?.count).toBeLessThanOrEqual(1_001);
  expect(await store.take!('slow', slow)).toBeGreaterThan(0);
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  await store.close();
});
