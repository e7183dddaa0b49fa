import { DatabaseSync } from 'node:sqlite';
import Sqlite from 'better-sqlite3';
import { type SQL, sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js';
import { CompiledQuery, Kysely, PostgresDialect, SqliteDialect, type Transaction } from 'kysely';
import { Pool } from 'pg';
import postgres, { type Sql, type TransactionSql } from 'postgres';
import {
  pgDatabase,
  type SqlDatabase,
  type SqlDatabaseOptions,
  sqlDatabase,
  sqliteDatabase,
} from '../../src/index.ts';

/** A database that was opened by one driver. */
export interface Opened<Tx> {
  readonly database: SqlDatabase<Tx>;
  /** Runs a statement of an agent in its transaction. */
  run(tx: Tx, statement: string): Promise<unknown>;
  close(): Promise<unknown> | unknown;
}

/** As the page on transactions has it. */
export const postgresJs = (client: Sql, options?: SqlDatabaseOptions) =>
  sqlDatabase<TransactionSql>(
    {
      dialect: 'postgres',
      transaction: async (run) =>
        (await client.begin(async (tx) => ({ result: await run(tx) }))).result as never,
      query: async (tx, text, values) => await tx.unsafe(text, [...values]),
    },
    options,
  );

/** As the page on transactions has it. */
const byKysely = (kysely: Kysely<object>, dialect: 'postgres' | 'sqlite', options?: SqlDatabaseOptions) =>
  sqlDatabase<Transaction<object>>(
    {
      dialect,
      transaction: (run) => kysely.transaction().execute(run),
      query: async (tx, text, values) => (await tx.executeQuery(CompiledQuery.raw(text, [...values]))).rows,
    },
    options,
  );

/** The used part of Drizzle for PostgreSQL, over either driver. */
interface DrizzlePg<Tx> {
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
}

/** As the page on transactions has it. */
const byDrizzle = <Tx extends { execute(query: SQL): PromiseLike<unknown> }>(
  db: DrizzlePg<Tx>,
  options?: SqlDatabaseOptions,
) =>
  sqlDatabase<Tx>(
    {
      dialect: 'postgres',
      transaction: (run) => db.transaction(run),
      async query(tx, text, values) {
        const strings = text.split(/\$\d+/);
        const found = await tx.execute(sql(Object.assign(strings, { raw: strings }), ...values));
        return Array.isArray(found) ? found : Object(found).rows;
      },
    },
    options,
  );

/** As the page on transactions has it. */
function byDrizzleSqlite<Db extends BetterSQLite3Database & { readonly $client: Sqlite.Database }>(
  db: Db,
  options?: SqlDatabaseOptions,
) {
  const { driver } = sqliteDatabase(db.$client);
  return sqlDatabase<Db>(
    {
      dialect: 'sqlite',
      transaction: (run) => driver.transaction(() => run(db)),
      query: (_, text, values) => driver.query(db.$client, text, values),
    },
    options,
  );
}

/** How each driver opens a database: at a URL of PostgreSQL, or at the path of a SQLite file. */
export const drivers = {
  postgres: {
    pg: (url: string, options?: SqlDatabaseOptions) => {
      const pool = new Pool({ connectionString: url });
      // A connection that is ended while it is idle.
      pool.on('error', () => {});
      return opened(
        pgDatabase(pool, options),
        (tx, statement) => tx.query(statement),
        () => pool.end(),
      );
    },
    postgresJs: (url: string, options?: SqlDatabaseOptions) => {
      const client = postgres(url, { max: 5, onnotice: () => {} });
      const close = () => client.end();
      return opened(postgresJs(client, options), async (tx, text) => await tx.unsafe(text), close);
    },
    drizzle: (url: string, options?: SqlDatabaseOptions) => {
      const pool = new Pool({ connectionString: url });
      pool.on('error', () => {});
      const database = byDrizzle(drizzlePg(pool), options);
      return opened(
        database,
        (tx, statement) => tx.execute(sql.raw(statement)),
        () => pool.end(),
      );
    },
    drizzlePostgresJs: (url: string, options?: SqlDatabaseOptions) => {
      const client = postgres(url, { max: 5, onnotice: () => {} });
      const database = byDrizzle(drizzlePostgresJs(client), options);
      return opened(
        database,
        async (tx, statement) => await tx.execute(sql.raw(statement)),
        () => client.end(),
      );
    },
    kysely: (url: string, options?: SqlDatabaseOptions) => {
      const pool = new Pool({ connectionString: url });
      pool.on('error', () => {});
      const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
      const database = byKysely(kysely, 'postgres', options);
      return opened(
        database,
        (tx, text) => tx.executeQuery(CompiledQuery.raw(text)),
        () => kysely.destroy(),
      );
    },
  },
  sqlite: {
    nodeSqlite: (path: string, options?: SqlDatabaseOptions) => {
      const client = new DatabaseSync(path);
      const database = sqliteDatabase(client, options);
      return opened(
        database,
        async (tx, statement) => tx.exec(statement),
        () => client.close(),
      );
    },
    betterSqlite3: (path: string, options?: SqlDatabaseOptions) => {
      const client = new Sqlite(path, { timeout: 0 });
      const database = sqliteDatabase(client, options);
      return opened(
        database,
        async (tx, statement) => tx.exec(statement),
        () => client.close(),
      );
    },
    drizzle: (path: string, options?: SqlDatabaseOptions) => {
      const client = new Sqlite(path, { timeout: 0 });
      const database = byDrizzleSqlite(drizzleSqlite(client), options);
      return opened(
        database,
        async (tx, statement) => tx.run(sql.raw(statement)),
        () => client.close(),
      );
    },
    kysely: (path: string, options?: SqlDatabaseOptions) => {
      const kysely = new Kysely<object>({
        dialect: new SqliteDialect({ database: new Sqlite(path, { timeout: 0 }) }),
      });
      const database = byKysely(kysely, 'sqlite', options);
      return opened(
        database,
        (tx, text) => tx.executeQuery(CompiledQuery.raw(text)),
        () => kysely.destroy(),
      );
    },
  },
};

/** Hides the type of the transactions: tests treat those of all drivers alike. */
function opened<Tx>(
  database: SqlDatabase<Tx>,
  run: (tx: Tx, statement: string) => Promise<unknown>,
  close: () => unknown,
): Opened<unknown> {
  return { database, run, close } as unknown as Opened<unknown>;
}
