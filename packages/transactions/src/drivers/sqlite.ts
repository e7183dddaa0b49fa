import { sleep } from '@batonjs/protocol/timing';
import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';
import type { SqlDriver, SqlValue } from '../sql-driver.ts';
import { isBusy } from '../tables/is-busy.ts';

/** The used part of a connection of `node:sqlite` or `better-sqlite3`. */
export interface SqliteConnection {
  exec(statement: string): unknown;
  prepare(statement: string): { all(...values: SqlValue[]): unknown[]; run(...values: SqlValue[]): unknown };
}

/**
 * SQLite by a connection of `node:sqlite` or `better-sqlite3`, which `fn` of `turn.transaction` gets. `fn` may be
 * asynchronous: the transactions of a connection follow each other. Other statements of the connection would become
 * part of a transaction that waits, so give it a connection of its own.
 */
export const sqliteDatabase = <Connection extends SqliteConnection>(
  connection: Connection,
  options?: SqlDatabaseOptions,
): SqlDatabase<Connection> => sqlDatabase<Connection>(sqliteDriver(connection, connection), options);

/** The transaction of each connection that ends last. */
const latest = new WeakMap<object, Promise<unknown>>();

/** A driver for a connection, whose transactions are called `tx`. */
export function sqliteDriver<Tx>(connection: SqliteConnection, tx: Tx): SqlDriver<Tx> {
  const inTransaction = async <T>(run: (tx: Tx) => Promise<T>): Promise<T> => {
    connection.exec('begin immediate');
    try {
      const result = await run(tx);
      await commit(connection);
      return result;
    } catch (error) {
      rollBack(connection);
      throw error;
    }
  };
  return {
    dialect: 'sqlite',
    transaction(run) {
      const next = () => inTransaction(run);
      const ended = (latest.get(connection) ?? Promise.resolve()).then(next, next);
      latest.set(connection, ended);
      return ended;
    },
    async query(_, statement, values) {
      const prepared = connection.prepare(statement);
      if (/^select|\breturning\b/.test(statement)) return prepared.all(...values);
      prepared.run(...values);
      return [];
    },
  };
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec('rollback');
  } catch {
    // SQLite has rolled back by itself, or the connection is closed.
  }
}

/** How long a commit waits for readers of other processes, which hold it up without a write-ahead log. */
const longestWaitMs = 10_000;

async function commit(connection: SqliteConnection): Promise<void> {
  for (const until = performance.now() + longestWaitMs; ; ) {
    try {
      connection.exec('commit');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
    }
    await sleep(5 + Math.random() * 20);
  }
}
