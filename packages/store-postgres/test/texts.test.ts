import { StoreError, type TaskStore } from '@batonjs/store';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import { poolDatabase } from '../src/database/pool-database.ts';
import { createSchema } from '../src/database/schema.ts';
import { type PostgresStoreOptions, postgresStore } from '../src/index.ts';

const server = await postgresForTests();
const ended = { state: 'TASK_STATE_COMPLETED', closed: true } as const;

it.skipIf(!server)('texts are searched from when one process switched that on in a schema', async () => {
  const schema = `texts ${process.pid}`;
  const pool = new pg.Pool({ connectionString: server!.url, max: 4 });
  const stores: TaskStore[] = [];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
    await pool.end();
  });
  const open = (options?: PostgresStoreOptions): TaskStore => {
    const store = postgresStore(pool, { schema, ...options });
    stores.push(store);
    return store;
  };
  const create = (store: TaskStore, taskId: string) =>
    store.commit({ ...chunkAfter(0), taskId, text: `refund of ${taskId}` });
  const found = async (store: TaskStore) => {
    const { tasks } = await store.list('s', { limit: 9, text: 'refund' });
    return tasks.map(({ taskId }) => taskId);
  };
  const tables = async () =>
    (await pool.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema])).rows.length;

  // While a process creates the schema without them, another one creates it with them.
  const database = poolDatabase(pool, { name: '', timeoutMs: 20_000, owned: false, keepsPlans: false });
  const late: typeof database.transact = async (work) => {
    await open({ textSearch: true }).identity();
    return database.transact(work);
  };
  const options = { schema, quoted: `"${schema}"`, textSearch: false };
  expect(await createSchema({ ...database, transact: late }, options)).toEqual({ texts: true, isOld: false });
  await pool.query(`DROP SCHEMA "${schema}" CASCADE`);

  const before = open();
  await create(before, 'early');
  const unsearched = await tables();
  const switching = open({ textSearch: true });
  await create(switching, 'later');
  expect(await tables()).toBe(unsearched + 1);
  const after = open();
  await create(after, 'last');
  expect((await found(after)).toSorted()).toEqual(['last', 'later']);
  expect([await before.searchesText?.(), await after.searchesText?.()]).toEqual([false, true]);
  await expect(found(before)).rejects.toSatisfy((error) => StoreError.is(error, 'UNUSABLE'));
  // A process that does not know of the index deletes from it, too.
  await before.commit({ ...chunkAfter(1, { head: headAt(2, ended) }), taskId: 'last' });
  expect(await before.erase?.('s', 'last')).toMatchObject({ facts: 2 });
  expect(await found(switching)).toEqual(['later']);
});
