import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TaskStore } from '@batonjs/store';
import { postgresStore } from '@batonjs/store-postgres';
import { sqliteStore } from '@batonjs/store-sqlite';
import { pgDatabase, type SqlDatabase, type SqlValue, sqliteDatabase } from '@batonjs/transactions';
import { Pool } from 'pg';
import { canStartPostgres, type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { type MediumName, mediumOf } from '../chaos/medium.ts';

/** Where the money and the tasks are: two files, or two schemas of one server. */
export type BankPlace = (
  | { readonly kind: 'sqlite'; readonly folder: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }
) & {
  /** Where the tasks are instead. */
  readonly tasks?: { readonly medium: MediumName; readonly location: string };
};

/** A connected bank. The types of the transactions of both drivers are hidden: only `execute` looks into them. */
export interface Bank {
  readonly database: SqlDatabase<unknown>;
  /** Runs a statement whose values stand as `$1`, `$2` … in their order. */
  execute(
    tx: unknown,
    statement: string,
    values?: readonly SqlValue[],
  ): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Connects to a bank. PostgreSQL knows the connections by `name`. */
export function openBank(place: BankPlace, name: string): Bank {
  const { database, close } = place.kind === 'sqlite' ? openFile(place.folder) : openSchema(place, name);
  const isSqlite = place.kind === 'sqlite';
  return {
    database,
    close,
    async execute(tx, statement, values = []) {
      const text = isSqlite ? statement.replace(/\$\d+/g, '?') : statement;
      return (await database.driver.query(tx, text, values)).map(Object);
    },
  };
}

type Opened = Pick<Bank, 'database' | 'close'>;

function openFile(folder: string): Opened {
  // The first process after one that was killed may have to repair the log of the file while others wait.
  const connection = new DatabaseSync(join(folder, 'bank.db'), { timeout: 10_000 });
  connection.exec('pragma journal_mode = wal');
  connection.exec('pragma busy_timeout = 0');
  return {
    database: sqliteDatabase(connection) as unknown as SqlDatabase<unknown>,
    close: async () => connection.close(),
  };
}

function openSchema({ url, schema }: BankPlace & { kind: 'postgres' }, name: string): Opened {
  const options = `-c search_path=${schema}`;
  const pool = new Pool({ connectionString: url, options, application_name: name, max: 20 });
  pool.on('error', () => {});
  return {
    database: pgDatabase(pool) as unknown as SqlDatabase<unknown>,
    close: () => pool.end(),
  };
}

/** Opens the tasks, in a database of their own. `now`: the wall clock of the process, where the store goes by it. */
export function openTasks(place: BankPlace, now = Date.now): TaskStore | Promise<TaskStore> {
  const { tasks } = place;
  if (tasks) return mediumOf(tasks.medium).open(tasks.location);
  return place.kind === 'sqlite'
    ? sqliteStore(join(place.folder, 'tasks.db'), { durability: 'normal', now })
    : postgresStore(place.url, { schema: `${place.schema}_tasks` });
}

/** A place for one run, and its server if it has one. */
export interface Prepared {
  readonly place: BankPlace;
  readonly server: PostgresServer | undefined;
  remove(): Promise<void>;
}

/** Makes a place of one kind. `medium`: what the tasks are kept in, if not in the same. */
export async function prepareBank(kind: BankPlace['kind'], medium?: MediumName): Promise<Prepared> {
  const { place, server, remove } = await prepareMoney(kind);
  if (!medium) return { place, server, remove };
  const { location, remove: removeTasks } = await mediumOf(medium).prepare(undefined);
  return {
    place: { ...place, tasks: { medium, location } },
    server,
    async remove() {
      await Promise.all([remove(), removeTasks()]);
    },
  };
}

async function prepareMoney(kind: BankPlace['kind']): Promise<Prepared> {
  if (kind === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'baton-ledger-'));
    return {
      place: { kind, folder },
      server: undefined,
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  }
  if (!(await canStartPostgres())) throw new Error('There is no PostgreSQL to put to the proof');
  const server = await startPostgres(['-c', 'max_connections=200']);
  const schema = `bank_${randomUUID().slice(0, 8)}`;
  return { place: { kind, url: server.url, schema }, server, remove: () => server.stop() };
}

/** How many accounts there are, and the money on each at first. */
export const accounts = { count: 10, cents: 1_000_000 };

/** Creates the tables, and opens the accounts. */
export async function foundBank(place: BankPlace, { database, execute }: Bank): Promise<void> {
  const serial =
    place.kind === 'sqlite' ? 'integer primary key' : 'bigint generated always as identity primary key';
  await database.driver.transaction(async (tx) => {
    if (place.kind === 'postgres') await execute(tx, `create schema ${place.schema}`);
    for (const table of [
      'accounts (id integer primary key, cents bigint not null)',
      'wanted (task text primary key, source integer not null, target integer not null, cents bigint not null)',
      'holds (task text not null, cents bigint not null)',
      'moves (task text not null, cents bigint not null)',
      `visits (seq ${serial}, task text not null, fence bigint not null)`,
    ])
      await execute(tx, `create table ${table}`);
    for (let id = 0; id < accounts.count; id++)
      await execute(tx, 'insert into accounts (id, cents) values ($1, $2)', [id, accounts.cents]);
  });
}
