import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import Sqlite from 'better-sqlite3';
import { Pool, type PoolClient } from 'pg';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { postgresForTests } from '../../../../test/support/postgres.ts';
import { pgDatabase, type SqlDatabaseOptions, sqliteDatabase, type TransactionKey } from '../../src/index.ts';
import { drivers, type Opened } from './databases.ts';

const server = await postgresForTests();

/** A database of its own for a test: a file, or a schema, as every driver of a kind opens it. */
async function place(dialect: 'postgres' | 'sqlite'): Promise<string> {
  if (dialect === 'sqlite') return join(await temporaryFolder(), 'effects.db');
  const schema = `t_${randomUUID().replaceAll('-', '')}`;
  const pool = new Pool({ connectionString: server!.url });
  await pool.query(`create schema ${schema}`);
  await pool.end();
  return `${server!.url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
}

const cases = [
  ...Object.entries(drivers.postgres).map(([name, open]) => ['postgres', name, open] as const),
  ...Object.entries(drivers.sqlite).map(([name, open]) => ['sqlite', name, open] as const),
].filter(([dialect]) => dialect === 'sqlite' || server);

const key: TransactionKey = { scope: '["a","",""]', taskId: 'task', turn: '1 m', name: 'pay', fence: 3 };
const live = new AbortController().signal;

describe.each(cases)('A database of %s by %s', (dialect, _driver, openDriver) => {
  async function open(options?: SqlDatabaseOptions) {
    const where = await place(dialect);
    const openAgain = (): Opened<unknown> => {
      const opened = openDriver(where, options) as Opened<unknown>;
      onTestFinished(async () => void (await opened.close()));
      return opened;
    };
    const { database, run } = openAgain();
    const { driver } = database;
    const query = async (text: string): Promise<Record<string, unknown>[]> =>
      (await driver.transaction((tx) => driver.query(tx, text, []))).map(Object);
    await driver.transaction((tx) => run(tx, 'create table effects (id integer)'));
    const insert = (id: number) => async (tx: unknown) => {
      await run(tx, `insert into effects values (${id})`);
      return { id };
    };
    const effects = async () =>
      (await query('select id from effects order by id')).map(({ id }) => Number(id));
    return { database, run, query, insert, effects, openAgain };
  }

  it('commits an effect with its result, and gives a later attempt the result', async () => {
    const { database, insert, effects } = await open();
    expect(await database.once(key, insert(1), live)).toEqual({ id: 1 });
    expect(await database.once({ ...key, fence: 4 }, insert(2), live)).toEqual({ id: 1 });
    expect(await effects()).toEqual([1]);
  });

  it('tells apart scopes, tasks, turns and names', async () => {
    const { database, insert, effects } = await open();
    const others = [{ scope: 's' }, { taskId: 'other' }, { turn: '2 m' }, { name: 'other' }];
    await database.once(key, insert(0), live);
    for (const [n, other] of others.entries()) await database.once({ ...key, ...other }, insert(n + 1), live);
    expect(await effects()).toEqual([0, 1, 2, 3, 4]);
  });

  it('commits nothing of a function that rejects, and runs it again', async () => {
    const { database, insert, effects, query } = await open();
    const failing = async (tx: unknown) => {
      await insert(1)(tx);
      throw new Error('no');
    };
    await expect(database.once(key, failing, live)).rejects.toThrow('no');
    expect(await effects()).toEqual([]);
    expect(await query("select name from sqlite_master where name like 'baton%'").catch(() => [])).toEqual(
      [],
    );
    await database.once(key, insert(2), live);
    expect(await effects()).toEqual([2]);
  });

  it('commits nothing of a turn after a later one was there', async () => {
    const { database, insert, effects } = await open();
    await database.once({ ...key, name: 'other', fence: 4 }, insert(1), live);
    await expect(database.once(key, insert(2), live)).rejects.toMatchObject({
      name: 'TransactionError',
      code: 'FENCED',
    });
    await expect(database.once({ ...key, name: 'other' }, insert(2), live)).rejects.toMatchObject({
      code: 'FENCED',
    });
    expect(await effects()).toEqual([1]);
  });

  it('commits one of several that run at once', async () => {
    const { database, insert, effects, openAgain } = await open();
    const other = openAgain();
    const all = [database, other.database, database].map((each, n) => each.once(key, insert(n), live));
    const results = await Promise.all(all);
    expect(await effects()).toEqual([(results[0] as { id: number }).id]);
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  });

  it('keeps results of every kind', async () => {
    const { database } = await open();
    const results = [null, 'é\u0000"\ud83d\ude00', 1.5, [1, [2]], { a: { b: true } }, false, ''];
    for (const [n, result] of results.entries()) {
      const named = { ...key, name: `n${n}` };
      await database.once(named, async () => result, live);
      expect(await database.once(named, () => expect.fail(), live)).toEqual(result);
    }
  });

  it('refuses a transaction within one', async () => {
    const { database, insert, effects } = await open();
    const nested = () => database.once({ ...key, name: 'inner' }, insert(1), live);
    await expect(database.once(key, nested, live)).rejects.toThrow(
      'The transaction "inner" was begun within another one of this database',
    );
    expect(await effects()).toEqual([]);
  });

  it('deletes the results of tasks that had no transaction for long', async () => {
    const { database, insert, query } = await open({ keepMs: 3_600_000 });
    await database.once({ ...key, taskId: 'old' }, insert(1), live);
    await database.once({ ...key, taskId: 'used' }, insert(1), live);
    await query('update baton_transaction_tasks set at = at - 3700000').catch(() => {});
    await database.once({ ...key, taskId: 'used', name: 'next' }, insert(2), live);
    for (let n = 0; n < 64; n++) await database.once({ ...key, name: `n${n}` }, async () => n, live);
    const tasks = await query('select distinct task from baton_transactions order by task');
    expect(tasks.map(({ task }) => task)).toEqual(['task', 'used']);
    const kept = await query('select task from baton_transaction_tasks order by task');
    expect(kept.map(({ task }) => task)).toEqual(['task', 'used']);
    expect(await query("select name from baton_transactions where task = 'used'")).toHaveLength(2);
  });
});

it.skipIf(!server)('A client of pg whose connection broke is replaced, and no listener stays', async () => {
  const pool = new Pool({ connectionString: await place('postgres'), max: 1 });
  onTestFinished(() => pool.end());
  pool.on('error', () => {});
  const database = pgDatabase(pool);
  const clients = new Set<PoolClient>();
  const result = await database.once(
    key,
    async (tx) => {
      clients.add(tx);
      if (clients.size === 1) await tx.query('select pg_terminate_backend(pg_backend_pid())');
      return clients.size;
    },
    live,
  );
  expect(result).toBe(2);
  const client = await pool.connect();
  const idle = client.listenerCount('error');
  client.release();
  for (let n = 0; n < 3; n++) await database.once({ ...key, name: `n${n}` }, async () => n, live);
  const again = await pool.connect();
  expect(again.listenerCount('error')).toBe(idle);
  again.release();
});

it.skipIf(!server)('A pool of pg that gets no connection rejects with its error', async () => {
  const url = new URL(server!.url);
  url.pathname = '/missing';
  const pool = new Pool({ connectionString: url.href });
  onTestFinished(() => pool.end());
  await expect(pgDatabase(pool).once(key, async () => 1, live)).rejects.toMatchObject({ code: '3D000' });
});

it('The transactions have the types of their drivers', () => {
  expectTypeOf(pgDatabase(new Pool()).once).parameter(1).parameter(0).toEqualTypeOf<PoolClient>();
  const connection = new DatabaseSync(':memory:');
  onTestFinished(() => connection.close());
  expectTypeOf(sqliteDatabase(connection).once).parameter(1).parameter(0).toEqualTypeOf<DatabaseSync>();
  const other = new Sqlite(':memory:');
  onTestFinished(() => void other.close());
  expectTypeOf(sqliteDatabase(other).once).parameter(1).parameter(0).toEqualTypeOf<Sqlite.Database>();
});
