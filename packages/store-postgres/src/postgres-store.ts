import { randomUUID } from 'node:crypto';
import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore, KnownTasks, type Rows, type Step } from '@batonjs/store/adapter';
import type { RowPage } from '@batonjs/store/rules';
import { taskOfSql } from '@batonjs/store/sql';
import pg from 'pg';
import { groupedChanges } from './changes/grouped-changes.ts';
import { bucketsOf, singleChanges } from './changes/single-changes.ts';
import { writerOf } from './changes/writer.ts';
import { readTaskColumns } from './database/columns.ts';
import { type Database, type PGliteLike, pgliteDatabase } from './database/database.ts';
import { poolDatabase } from './database/pool-database.ts';
import { type Transactions, transactionsOf, translated } from './database/postgres-error.ts';
import { type CreatedSchema, createSchema, freeze, stepsOf } from './database/schema.ts';
import { wakeupsOf } from './notifications/wakeups.ts';
import { logsOf } from './tables/logs.ts';
import { taskListOf } from './tables/task-list.ts';

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

interface PostgresRowsOptions {
  readonly schema: string;
  readonly notify: boolean;
  readonly textSearch: boolean;
  readonly onGroup: ((size: number) => void) | undefined;
}

/** The rows of a database, whose tables are created at the first call. */
export function postgresRows(
  database: Database,
  { schema, notify, textSearch, onGroup }: PostgresRowsOptions,
): Rows {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const transactions = transactionsOf(database, async () => void (await created()));
  const wakeups = wakeupsOf({ database, transactions, schema, quoted, notify, secret: identity });
  const writer = writerOf(quoted, database, wakeups.isHeard);
  const known = new KnownTasks();
  const single = singleChanges({ schema: quoted, transactions, writer, wakeups, known });
  const grouped = groupedChanges({ schema: quoted, single, transactions, writer, known, onGroup });
  const buckets = bucketsOf(quoted, transactions);
  const logs = logsOf(quoted, transactions);
  const tasks = taskListOf(quoted, transactions);
  let creating: Promise<CreatedSchema> | undefined;

  function created(): Promise<CreatedSchema> {
    creating ??= createSchema(database, { schema, quoted, textSearch }).then(
      (made) => {
        writer.keepsTexts = made.texts;
        return made;
      },
      (error: unknown) => {
        // The next call tries again.
        creating = undefined;
        throw translated(database.name, error);
      },
    );
    return creating;
  }

  async function identity(): Promise<string> {
    const rows = await transactions.query(`SELECT name, value FROM ${quoted}.meta`);
    const { identity, version } = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    if (!identity) throw new StoreError('UNUSABLE', `${database.name} has lost the identity of its tasks`);
    stepsOf(version, database, schema);
    return String(identity);
  }

  async function change<T>(step: Step<T>): Promise<T> {
    const { wanted, isMostlyIdle } = step;
    if (wanted.bucket !== undefined) return buckets.run(wanted.bucket, step);
    // Most claims find nothing, and then take no lock. Prunes are rare.
    if (isMostlyIdle && !wanted.ended) return single.runIfAny(step);
    return wanted.tasks ? grouped(step) : single.run(step);
  }

  return {
    system: 'postgresql',
    encode: JSON.stringify,
    change,
    read: (wanted) => single.look(wanted),
    log: (scope, taskId) => logs.log(scope, taskId),
    facts: (scope, taskId, after, limit) => logs.facts(scope, taskId, after, limit),
    page: (scope, search) => tasks.list(scope, search),
    every: (from, limit) => everyTask(quoted, transactions, from, limit),
    freeze: (ms) => freeze(quoted, transactions, ms),
    texts: {
      isOn: async () => (await created()).texts,
      page: (scope, search, prefixes) => tasks.list(scope, search, prefixes),
    },
    subscribe: async (topic, notifySubscriber) => {
      await created();
      return wakeups.subscribe(topic, notifySubscriber);
    },
    probe: () => probe(transactions, quoted),
    ping: async () => void (await transactions.query('SELECT 1')),
    identity,
    close: async () => {
      await buckets.close();
      await wakeups.close();
      await database.close();
    },
  };
}

/** Large enough to need a page of its own: the write fails if the disk is full. */
const size = 8 * 1024;

/** Checks that the database can be written, and leaves nothing behind. */
async function probe(transactions: Transactions, schema: string): Promise<void> {
  const id = randomUUID();
  await transactions.query(`INSERT INTO ${schema}.probes (id, content) VALUES ($1, $2)`, [
    id,
    ' '.repeat(size),
  ]);
  // Rows of processes that ended in between go as well.
  await transactions.query(`DELETE FROM ${schema}.probes`);
}

/** See `Rows.every`. */
async function everyTask(
  schema: string,
  transactions: Transactions,
  from = '',
  limit: number,
): Promise<RowPage> {
  const found = await transactions.query(
    `SELECT ${readTaskColumns} FROM ${schema}.tasks WHERE key > $1 ORDER BY key LIMIT $2`,
    [from, limit],
  );
  return { rows: found.map(taskOfSql), next: found.length < limit ? undefined : String(found.at(-1)?.key) };
}
