import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';
import type { SqlValue } from '../sql-driver.ts';
import { whenFree } from '../tables/when-free.ts';

/** The used part of a connection of `node:sqlite` or `better-sqlite3`. */
export interface SqliteConnection {
  exec(statement: string): unknown;
  prepare(statement: string): { all(...values: SqlValue[]): unknown[]; run(...values: SqlValue[]): unknown };
}

/** The transaction of each connection that ends last. */
const latest = new WeakMap<object, Promise<unknown>>();

/**
 * SQLite by a connection of `node:sqlite` or `better-sqlite3`, which `fn` of `turn.transaction` gets. `fn` may be
 * asynchronous: the transactions of a connection follow each other. Other statements of the connection would become
 * part of a transaction that waits, so give it a connection of its own.
 */
export function sqliteDatabase<Connection extends SqliteConnection>(
  connection: Connection,
  options?: SqlDatabaseOptions,
): SqlDatabase<Connection> {
  const inTransaction = async <T>(run: (tx: Connection) => Promise<T>): Promise<T> => {
    connection.exec('begin immediate');
    try {
      const result = await run(connection);
      // Readers of other processes hold it up, without a write-ahead log.
      await whenFree(() => connection.exec('commit'));
      return result;
    } catch (error) {
      rollBack(connection);
      throw error;
    }
  };
  return sqlDatabase<Connection>(
    {
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
    },
    options,
  );
}

function rollBack(connection: SqliteConnection): void {
  try {
    connection.exec('rollback');
  } catch {
    // SQLite has rolled back by itself, or the connection is closed.
  }
}
