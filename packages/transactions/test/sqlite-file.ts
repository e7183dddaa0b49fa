import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase, sqliteDatabase } from '../src/index.ts';

/** A file with one table, `effects`, until the test ends. */
export interface SqliteFile {
  readonly connection: DatabaseSync;
  readonly database: SqlDatabase<DatabaseSync>;
  readonly path: string;
  /** The column of a query, a row each. */
  column(statement: string): unknown[];
}

/** Connects to a file: that of another one, or a new one. */
export function sqliteFile(
  path: string = join(temporaryFolder(), 'effects.db'),
  options?: SqlDatabaseOptions,
): SqliteFile {
  const connection = new DatabaseSync(path);
  onTestFinished(() => connection.close());
  connection.exec('pragma synchronous = off; create table if not exists effects (id text)');
  return {
    connection,
    path,
    database: sqliteDatabase(connection, options),
    column: (statement) =>
      connection
        .prepare(statement)
        .all()
        .map((row) => Object.values(row)[0]),
  };
}

/** What runs a transaction to its end, and then commits it or rolls it back. */
export interface Ending {
  commit(): Promise<unknown>;
  rollBack(): Promise<unknown>;
}

/** The same database, with a connection that may break: `end` commits or rolls back, and may reject after either. */
export function withEnding<Tx>(
  { driver }: SqlDatabase<Tx>,
  end: (ending: Ending) => Promise<unknown>,
): SqlDatabase<Tx> {
  return sqlDatabase<Tx>({
    dialect: driver.dialect,
    query: (tx, statement, values) => driver.query(tx, statement, values),
    async transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T> {
      let result: { readonly value: T } | undefined;
      const enter = (fails: boolean) =>
        driver.transaction(async (tx) => {
          result = { value: await run(tx) };
          if (fails) throw new Error('rolled back');
        });
      await end({ commit: () => enter(false), rollBack: () => enter(true).catch(() => {}) });
      if (!result) throw new Error('The transaction did not run');
      return result.value;
    },
  });
}
