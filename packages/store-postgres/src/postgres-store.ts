import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore } from '@batonjs/store/adapter';
import pg from 'pg';
import { type Database, type PGliteLike, pgliteDatabase } from './database/database.ts';
import { poolDatabase } from './database/pool-database.ts';
import { type PostgresRowsOptions, postgresRows } from './postgres-rows.ts';

/** The options, with their defaults. */
const postgresOptions = {
  /** The schema that the tables are in, 1 to 48 characters. It is created if it is missing. Default `baton`. */
  schema: 'baton',
  /**
   * Whether processes notify each other with LISTEN and NOTIFY, over one connection more. Default `true`. Without,
   * they poll: set `false` behind PgBouncer in transaction mode, and for databases without LISTEN.
   */
  notify: true,
  /** How many connections a store on a URL opens at most, besides the one that listens. Default 8. */
  connections: 8,
  /** How long a statement, or the wait for a free connection, may take, in milliseconds. Default 10,000. */
  timeoutMs: 10_000,
  /** Called after each transaction with its number of commits. If it is always 1, writers wait for each other. */
  onGroup: undefined as ((size: number) => void) | undefined,
  /**
   * Keeps an index of the words of first messages in the schema, so that tasks can be listed by `text`, from now on by every
   * process that opens the schema after this. Tasks that are there already are not found by their text. Default: as the
   * schema has it.
   */
  textSearch: false,
};

export type PostgresStoreOptions = {
  readonly [Name in keyof typeof postgresOptions]?: (typeof postgresOptions)[Name] | undefined;
};

/**
 * Tasks in PostgreSQL 13 or newer, for any number of processes and machines. `database`: a URL (`postgres://…`), a
 * `Pool` of `pg`, or a `PGlite`. `close` ends the connections of a store on a URL; a pool and a `PGlite` stay the
 * caller's, but connections of the pool that are lost do not end the process. The tables are created at the first
 * call. Throws a `StoreError` of code `UNUSABLE` for options that cannot be used; calls reject with it for a schema of
 * another release.
 */
export function postgresStore(
  database: string | pg.Pool | PGliteLike,
  given: PostgresStoreOptions = {},
): TaskStore & PushConfigStore {
  const complete = completeOptions(postgresOptions, given);
  const { schema, notify, connections, timeoutMs, textSearch, onGroup } = complete;
  if (schema === '' || schema.length > 48 || schema.includes('\0'))
    throw new StoreError('UNUSABLE', 'The name of a schema has 1 to 48 characters');
  const options = { schema, notify, textSearch, onGroup };
  if (typeof database !== 'string') {
    if ('transaction' in database) return storeOn(pgliteDatabase(database), options);
    const { connectionString, host = 'localhost', port = 5432, database: name = '' } = database.options;
    const described = {
      name: connectionString ? nameOf(connectionString) : `PostgreSQL at ${host}:${port}/${name}`,
      timeoutMs,
      owned: false,
      keepsPlans: notify,
    };
    return storeOn(poolDatabase(database, described), options);
  }
  const pool = new pg.Pool({
    connectionString: database,
    max: connections,
    connectionTimeoutMillis: timeoutMs,
    // Idle connections do not keep a process alive.
    allowExitOnIdle: true,
  });
  const described = { name: nameOf(database), timeoutMs, owned: true, keepsPlans: notify };
  return storeOn(poolDatabase(pool, described), options);
}

const storeOn = (database: Database, options: PostgresRowsOptions) =>
  createStore(database.name, postgresRows(database, options));

/** The URL without user, password and options. */
function nameOf(url: string): string {
  const parsed = /^postgres(ql)?:/.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed)
    throw new StoreError('UNUSABLE', 'The URL of PostgreSQL begins with postgres:// or postgresql://');
  return `PostgreSQL at ${parsed.host || 'localhost'}${parsed.pathname}`;
}
