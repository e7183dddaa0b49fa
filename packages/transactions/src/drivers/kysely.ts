import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';
import type { Dialect } from '../sql-driver.ts';

/** The used part of a transaction of Kysely; `Query` is what `CompiledQuery.raw` makes. */
export interface KyselyTransaction<Query> {
  executeQuery(query: Query): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The used part of Kysely. */
export interface KyselyDatabase<Tx> {
  transaction(): { execute<T>(run: (tx: Tx) => Promise<T>): Promise<T> };
}

/** PostgreSQL or SQLite by Kysely. `compiledQuery` is `CompiledQuery` of `kysely`. */
export const kyselyDatabase = <Query, Tx extends KyselyTransaction<Query>>(
  database: KyselyDatabase<Tx>,
  compiledQuery: { raw(statement: string, values: unknown[]): Query },
  dialect: Dialect,
  options?: SqlDatabaseOptions,
): SqlDatabase<Tx> =>
  sqlDatabase<Tx>(
    {
      dialect,
      transaction: (run) => database.transaction().execute(run),
      query: async (tx, statement, values) =>
        (await tx.executeQuery(compiledQuery.raw(statement, [...values]))).rows,
    },
    options,
  );
