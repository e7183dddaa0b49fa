import type { TaskStore } from '@batonjs/store';
import { createStore, type Rows, Subscribers, type Wanted } from '@batonjs/store/adapter';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { chunkAfter, headAt } from '../../../test/kit/task-logs.ts';
import { postgresForTests } from '../../../test/support/postgres.ts';
import type { Database } from '../src/database/database.ts';
import { poolDatabase } from '../src/database/pool-database.ts';
import { transactionsOf } from '../src/database/postgres-error.ts';
import { pollOf, registration } from '../src/notifications/poll.ts';
import { postgresRows } from '../src/postgres-store.ts';

const server = await postgresForTests();
const schema = `races ${process.pid}`;
const pool = new pg.Pool({ connectionString: server?.url, max: 4 });
const sql = async (text: string) => (await pool.query(text)).rows;
const database = poolDatabase(pool, {
  ...{ name: 'PostgreSQL', timeoutMs: 20_000, owned: false, keepsPlans: true },
});
afterEach(() => (server ? sql(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`) : undefined));
afterAll(() => pool.end());

/** The rows and the store of a process that knows of nothing yet. */
function newProcess(on: Database = database): { rows: Rows; store: TaskStore } {
  const rows = postgresRows(on, { schema, notify: false, textSearch: false, onGroup: undefined });
  return { rows, store: createStore('PostgreSQL', rows) };
}

/** Runs work while another session has changed rows and has not committed yet. */
async function inTransaction(change: string, work: () => Promise<void>): Promise<void> {
  const session = await pool.connect();
  try {
    await session.query('BEGIN');
    await session.query(change);
    await work();
  } finally {
    await session.query('COMMIT');
    session.release();
  }
}

const untilSomeWaits = () =>
  expect
    .poll(() => sql(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '${schema}'`))
    .toHaveLength(1);

describe.skipIf(!server)('Changes of other processes', () => {
  const [tasks, records] = ['tasks', 'records'].map((table) => ({
    table,
    key: table === 'tasks' ? 'key' : 'name',
  }));
  it.each<{ name: string; table?: string; key?: string; wanted: (names: string[]) => Wanted }>([
    {
      ...{ name: 'tasks by name', ...tasks },
      wanted: (names) => ({ tasks: names.map((taskId) => ({ scope: 's', taskId })) }),
    },
    { name: 'tasks of a holder', ...tasks, wanted: () => ({ held: { queue: 'q', holder: 'h', limit: 99 } }) },
    { name: 'records', ...records, wanted: (names) => ({ records: names }) },
  ])('lock $name in the order of their keys: none holds a row that comes later', async (one) => {
    const { store } = newProcess();
    const names = Array.from({ length: 12 }, (_, n) => `n${99 - n}`);
    const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };
    for (const name of names) {
      await store.commit(chunkAfter(0, { taskId: name, turn }));
      await store.putRecord(name, 0, {});
    }
    const keys = await sql(`SELECT ${one.key} AS key FROM "${schema}".${one.table} ORDER BY 1`);
    const where = (n: number) => `FROM "${schema}".${one.table} WHERE ${one.key} = '${keys.at(n)?.key}'`;
    let changing: Promise<unknown> | undefined;
    await inTransaction(`SELECT ${where(0)} FOR UPDATE`, async () => {
      const { rows } = newProcess();
      changing = Promise.resolve(rows.change({ wanted: one.wanted(names), decide: () => ({ result: 1 }) }));
      await untilSomeWaits();
      for (let n = 1; n < keys.length; n++)
        expect(await sql(`SELECT ${where(n)} FOR UPDATE SKIP LOCKED`)).toHaveLength(1);
    });
    expect(await changing).toBe(1);
  });

  it('leave a claim those that they did not take, between its look and its write', async () => {
    const { store: other } = newProcess();
    for (const taskId of ['a', 'b', 'c'])
      await other.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true } }));
    const claim = (store: TaskStore, holder: string, limit: number) =>
      store.claim({ queue: 'q', holder, limit, ttlMs: 60_000 });
    let looks = 0;
    const look: Database['look'] = async (statements) => {
      const looked = await database.look(statements);
      if (statements.some((text) => text.includes('waiting_since')) && looks++ === 0)
        expect(await claim(other, 'other', 1)).toMatchObject([{ taskId: 'a' }]);
      return looked;
    };
    const { store } = newProcess({ ...database, look });
    expect(await claim(store, 'mine', 3)).toMatchObject([
      { taskId: 'b', fence: 1, cause: 'wanted' },
      { taskId: 'c', fence: 1, cause: 'wanted' },
    ]);
  });

  it('stay in the counts, though the task that made them comes and goes meanwhile', async () => {
    const { store } = newProcess();
    await store.commit(chunkAfter(0, { head: headAt(1, { closed: true }) }));
    const counts = `"${schema}".counts`;
    await sql(
      `INSERT INTO ${counts} (key, name, part, tasks) SELECT DISTINCT key, name, 17, 0 FROM ${counts}`,
    );
    let erasing: Promise<unknown> | undefined;
    await inTransaction(`UPDATE ${counts} SET tasks = tasks + 1 WHERE part = 17`, async () => {
      erasing = store.erase!('s', 't');
      await Promise.race([erasing, untilSomeWaits().catch(() => {})]);
    });
    await erasing;
    expect(await sql(`SELECT sum(tasks)::int AS tasks FROM ${counts}`)).toEqual([{ tasks: 1 }]);
  });
});

it.skipIf(!server)('A poll that is stopped while it asks does not ask again', async () => {
  await newProcess().store.commit(chunkAfter(0));
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asks = 0;
  const query: Database['query'] = async (...statement) => {
    asks++;
    const rows = await database.query(...statement);
    asked.resolve();
    await answered.promise;
    return rows;
  };
  const topic = { scope: 's', taskId: 't' };
  const notified: (number | undefined)[] = [];
  const startPoll = (on: Database, notify: (version?: number) => void) => {
    const subscribers = new Subscribers();
    subscribers.add(topic, notify);
    const poll = pollOf(
      `"${schema}"`,
      transactionsOf(on, async () => {}),
      subscribers,
    );
    poll.start();
    return poll;
  };
  const stopped = startPoll({ ...database, query }, (version) => notified.push(version));
  await asked.promise;
  stopped.stop();
  answered.resolve();
  await vi.waitFor(() => expect(notified).toEqual([1]));
  // Another one that goes on asks four times, ever more rarely.
  const rounds = Promise.withResolvers<void>();
  let round = 0;
  const counted: Database['query'] = (...statement) => {
    if (++round === 4) rounds.resolve();
    return database.query(...statement);
  };
  const going = startPoll({ ...database, query: counted }, () => {});
  await rounds.promise;
  going.stop();
  expect(asks).toBe(1);
});

it.skipIf(!server)('A registration that ends while it is renewed is not renewed again', async () => {
  await newProcess().store.commit(chunkAfter(0));
  const [renewing, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let puts = 0;
  const query: Database['query'] = async (text, values) => {
    const rows = await database.query(text, values);
    if (text.includes('INSERT') && ++puts === 2) {
      renewing.resolve();
      await answered.promise;
    }
    return rows;
  };
  const called: string[] = [];
  const registered = registration({
    ...{ schema: `"${schema}"`, id: 'one', renewEveryMs: 10 },
    transactions: transactionsOf({ ...database, query }, async () => {}),
    onKnown: () => called.push('known'),
    onLapsed: () => called.push('lapsed'),
  });
  await registered.begin();
  await renewing.promise;
  await registered.end();
  answered.resolve();
  // What follows from the answer happens before the next one comes.
  expect(await sql(`SELECT FROM "${schema}".listeners`)).toEqual([]);
  expect(called).toEqual([]);
});
