import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { createTables } from '../src/database/open-database.ts';
import { storeOnDatabase } from '../src/sqlite-store.ts';
import { bucketsOf } from '../src/tables/tables.ts';

it('Full buckets are deleted by and by, and commits wait for the disk as before', async () => {
  const db = new DatabaseSync(':memory:');
  db.exec('PRAGMA synchronous = FULL');
  createTables(db, ':memory:');
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
  expect(db.prepare('SELECT count(*) AS count FROM buckets').get()?.count).toBeLessThan(1_500);
  expect(await store.take!('slow', slow)).toBeGreaterThan(0);
  expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 2 });
  await store.close();
});

it('A sweep deletes a bounded number of buckets, and the next one goes on after it', () => {
  const db = new DatabaseSync(':memory:');
  createTables(db, ':memory:');
  const buckets = bucketsOf(db);
  const count = () => db.prepare('SELECT count(*) AS count FROM buckets').get()?.count as number;
  // Every second one is full.
  db.exec(`
    WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
    INSERT INTO buckets SELECT n, n % 2 * 1e9 FROM numbers`);
  let most = 0;
  for (let take = 0; take < 6_000; take++) {
    const before = count();
    buckets.set('again', 11 + 10 * take, 10 + 10 * take);
    most = Math.max(most, before - count());
  }
  expect(most).toBeLessThanOrEqual(200);
  expect(count()).toBeLessThanOrEqual(5_001);
  db.close();
});
