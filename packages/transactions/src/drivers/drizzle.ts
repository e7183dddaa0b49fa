import { type SqlDatabase, type SqlDatabaseOptions, sqlDatabase } from '../sql-database.ts';
import { type SqliteConnection, sqliteDriver } from './sqlite.ts';

/** The used part of a transaction of Drizzle for PostgreSQL; `Statement` is what its `sql` makes. */
export interface DrizzleTransaction<Statement> {
  execute(statement: Statement): PromiseLike<unknown>;
}

/** The used part of Drizzle for PostgreSQL. */
export interface DrizzleDatabase<Tx> {
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
}

/** PostgreSQL by Drizzle, over `pg` or `postgres`. `sql` is that of `drizzle-orm`. */
export const drizzleDatabase = <Statement, Tx extends DrizzleTransaction<Statement>>(
  database: DrizzleDatabase<Tx>,
  sql: (strings: TemplateStringsArray, ...values: unknown[]) => Statement,
  options?: SqlDatabaseOptions,
): SqlDatabase<Tx> =>
  sqlDatabase<Tx>(
    {
      dialect: 'postgres',
      transaction: (run) => database.transaction(run),
      async query(tx, statement, values) {
        // The values stand in their order, each of them once.
        const strings = statement.split(/\$\d+/);
        const found = await tx.execute(sql(Object.assign(strings, { raw: strings }), ...values));
        return Array.isArray(found) ? found : Object(found).rows;
      },
    },
    options,
  );

/** SQLite by Drizzle over `better-sqlite3`. `fn` of `turn.transaction` gets the database itself. */
export const drizzleSqliteDatabase = <Database extends { readonly $client: SqliteConnection }>(
  database: Database,
  options?: SqlDatabaseOptions,
): SqlDatabase<Database> => sqlDatabase<Database>(sqliteDriver(database.$client, database), options);
