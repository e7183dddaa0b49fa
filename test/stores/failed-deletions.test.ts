import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TaskStore } from '@batonjs/store';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import pg from 'pg';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { chunkAfter, headAt } from '../kit/task-logs.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';

const [postgres, redis] = [await postgresForTests(), await redisForTests()];

/** A store, and a switch that lets the database refuse each record, and take them again. */
interface Refusing {
  readonly store: TaskStore;
  refuse(isOn: boolean): Promise<unknown>;
}

const onSqlite = async (): Promise<Refusing> => {
  const file = join(temporaryFolder(), 'tasks.db');
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  const refusal = "BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'No'); END";
  return {
    store: sqliteStore(file),
    refuse: async (isOn) => database.exec(isOn ? `CREATE TRIGGER no ${refusal}` : 'DROP TRIGGER no'),
  };
};

const onPostgres = async (): Promise<Refusing> => {
  const schema = 'failed_deletions';
  const pool = new pg.Pool({ connectionString: postgres!.url, max: 1 });
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await pool.end();
  });
  const alter = `ALTER TABLE ${schema}.records`;
  return {
    store: postgresStore(postgres!.url, { schema }),
    refuse: (isOn) =>
      pool.query(isOn ? `${alter} ADD CONSTRAINT no CHECK (false) NOT VALID` : `${alter} DROP CONSTRAINT no`),
  };
};

const onRedis = async (): Promise<Refusing> => {
  const prefix = `test-${randomUUID()}`;
  const client = await createClient({ url: redis!.url }).connect();
  onTestFinished(() => client.close());
  return {
    store: redisStore({ url: redis!.url, prefix }),
    // A key of another kind: a script fails there.
    async refuse(isOn) {
      const [ended = ''] = await client.keys(`*${prefix}*ended`);
      const records = ended.replace(/ended$/, 'records');
      return isOn ? client.set(records, 'no') : client.del(records);
    },
  };
};

it.each([
  ['SQLite', true, onSqlite],
  ['PostgreSQL', postgres !== undefined, onPostgres],
  ['Redis', redis !== undefined, onRedis],
] as const)('deletes nothing in %s of which it cannot write the record', async (_, isHere, open) => {
  if (!isHere) return;
  const { store, refuse } = await open();
  closedAfterTest(store);
  for (const taskId of ['a', 'b'])
    await store.commit(chunkAfter(0, { taskId, head: headAt(1, { closed: true }) }));
  const prune = () => store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 });
  await refuse(true);
  await expect(prune()).rejects.toThrow();
  await expect(store.erase!('s', 'a')).rejects.toThrow();
  for (const taskId of ['a', 'b']) expect(await store.load('s', taskId)).toMatchObject({ version: 1 });
  await refuse(false);
  expect(await store.erase!('s', 'a')).toMatchObject({ facts: 1 });
  expect(await prune()).toBe(1);
  expect((await store.listRecords({ prefix: 'deleted/', limit: 9 })).length).toBe(2);
});
