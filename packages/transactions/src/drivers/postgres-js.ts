import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';
import type { SqlValue } from '../sql-driver.ts';

/** The used part of a transaction of `postgres`. */
export interface PostgresJsTransaction {
  unsafe(statement: string, values?: SqlValue[]): PromiseLike<readonly unknown[]>;
}

/** The used part of `postgres`. */
export interface PostgresJsSql<Tx extends PostgresJsTransaction> {
  begin: {
    (run: (tx: Tx) => Promise<unknown>): Promise<unknown>;
    (options: string, run: (tx: Tx) => Promise<unknown>): Promise<unknown>;
  };
}

/** PostgreSQL by `postgres` (postgres.js). `fn` of `turn.transaction` gets what `sql.begin` gives. */
export const postgresJsDatabase = <Tx extends PostgresJsTransaction>(
  sql: PostgresJsSql<Tx>,
  options?: SqlDatabaseOptions,
): SqlDatabase<Tx> =>
  sqlDatabase<Tx>(
    {
      dialect: 'postgres',
      query: async (tx, statement, values) => await tx.unsafe(statement, [...values]),
      async transaction<T>(run: (tx: Tx) => Promise<T>) {
        // In an object: `begin` would await the members of an array.
        const { result } = (await sql.begin(async (tx) => ({ result: await run(tx) }))) as { result: T };
        return result;
      },
    },
    options,
  );
