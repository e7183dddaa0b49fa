import { AsyncLocalStorage } from 'node:async_hooks';
import type { TransactionDatabase } from '@batonjs/server/internals';
import { once, SqlSession } from './once.ts';
import type { Dialect, SqlDriver } from './sql-driver.ts';
import { now } from './tables/schema.ts';

/** Settings of a database. */
export interface SqlDatabaseOptions {
  /**
   * How long results of transactions are kept after the last transaction of their task, in milliseconds. A process that
   * stands still for longer may repeat an effect. Default 30 days.
   */
  readonly keepMs?: number | undefined;
}

const session = Symbol('session');

/** A database in which turns have transactions, and into which messages are submitted. */
export interface SqlDatabase<Tx> extends TransactionDatabase<Tx> {
  readonly driver: SqlDriver<Tx>;
  readonly [session]: SqlSession<Tx>;
}

/** The session of a database. Throws `TypeError` for one that is not of {@link sqlDatabase}. */
export function sessionOf<Tx>(database: SqlDatabase<Tx>): SqlSession<Tx> {
  if (session in database) return database[session];
  throw new TypeError('The database must be one of `@batonjs/transactions`, such as pgDatabase(pool)');
}

const dayMs = 24 * 60 * 60 * 1_000;

/** How many transactions there are for one that also deletes old rows, at most a batch of them. */
const sweepEvery = 64;

/** Databases in whose transaction the running code is. */
const entered = new AsyncLocalStorage<object>();

/** A database of any driver, such as Drizzle, Kysely, Prisma and `postgres`: the page on transactions has theirs. Throws `TypeError` for wrong options. */
export function sqlDatabase<Tx>(
  driver: SqlDriver<Tx>,
  { keepMs = 30 * dayMs }: SqlDatabaseOptions = {},
): SqlDatabase<Tx> {
  if (!(keepMs > 0)) throw new TypeError('`keepMs` must be more than 0');
  const statements = new SqlSession(driver);
  let transactions = 0;
  const database: SqlDatabase<Tx> = {
    driver,
    [session]: statements,
    async once(key, run, signal) {
      // It would wait for the row of its own task, or for its own connection, forever.
      if (entered.getStore() === database)
        throw new TypeError(`The transaction "${key.name}" was begun within another one of this database`);
      const result = await entered.run(database, () => once(statements, key, run, signal));
      if (++transactions % sweepEvery === 0) await sweep(statements, keepMs).catch(() => {});
      return result;
    },
  };
  return database;
}

/** How many tasks one sweep deletes at most: more than can have become old since the sweep before. */
const batch = 256;

const old = `select scope, task from baton_transaction_tasks where at < $1 order by at limit ${batch}`;

/** The rows of a task go together: a turn that finds one of them missing would run again. */
const sweeping: Record<Dialect, readonly string[]> = {
  postgres: [
    `with swept as (delete from baton_transaction_tasks where (scope, task) in
(${old} for update skip locked) returning scope, task)
delete from baton_transactions using swept
where baton_transactions.scope = swept.scope and baton_transactions.task = swept.task`,
  ],
  sqlite: [
    `delete from baton_transactions where (scope, task) in (${old})`,
    `delete from baton_transaction_tasks where (scope, task) in (${old})`,
  ],
};

/** Deletes the results of tasks that had no transaction for `keepMs` milliseconds. */
async function sweep<Tx>(session: SqlSession<Tx>, keepMs: number): Promise<void> {
  await session.transaction(async (tx) => {
    const [time] = await session.query(tx, `select ${now[session.dialect]} as now`);
    const before = Math.floor(Number(time?.now) - keepMs);
    for (const statement of sweeping[session.dialect]) await session.query(tx, statement, [before]);
  });
}
