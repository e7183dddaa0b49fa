import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { stepsFrom } from '@batonjs/store/adapter';
import { applicationId, layouts, schema, textSchema } from '../sql/schema.ts';
import { isBusy, lockHolder, unusable } from './sqlite-error.ts';

/** What an acknowledged commit survives: `full` a power failure, `normal` a killed process. */
export type Durability = 'full' | 'normal';

/** What to do while another process holds the file. */
export interface OpenOptions {
  /** How long to wait for another process that holds the file, in milliseconds. Default 30,000. */
  readonly maxWaitMs?: number;
  /** Called once, after a second, with a message that names the other process. Default: standard error. */
  readonly onWait?: (message: string) => void;
  /** See `SqliteStoreOptions`. */
  readonly textSearch?: boolean;
}

/** How long a statement may block this process for another one's lock, in milliseconds. */
const blockAtMostMs = 5;

/** The wait after which `onWait` is called, in milliseconds. */
const saidAfterMs = 1_000;

/**
 * Opens a file. Creates the file and its folder and tables if they are missing. Blocks this process while another one holds
 * the file. Throws a `StoreError` of code `UNUSABLE` whose message names the fault of the file.
 */
export function openDatabase(path: string, durability: Durability, options: OpenOptions = {}): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    const opened = new DatabaseSync(path);
    db = opened;
    db.exec(`PRAGMA busy_timeout = ${blockAtMostMs}; PRAGMA foreign_keys = OFF`);
    whenFree(path, options, () => {
      useWriteAheadLog(opened, path);
      opened.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
      createTables(opened, path, options.textSearch);
    });
    return db;
  } catch (error) {
    if (db?.isOpen) db.close();
    if (error instanceof Error && 'syscall' in error) {
      throw new StoreError('UNUSABLE', `The folder of ${path} cannot be created: ${error.message}`, {
        cause: error,
      });
    }
    throw unusable(path, error);
  }
}

/** Runs `work`, and runs it again from its start while another process holds the file. */
function whenFree(
  path: string,
  { maxWaitMs = 30_000, onWait = console.warn }: OpenOptions,
  work: () => void,
): void {
  const start = performance.now();
  let isSaid = false;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      const waitedMs = performance.now() - start;
      if (waitedMs > maxWaitMs) {
        const message = `${path} is held by ${lockHolder(path)}, for longer than ${maxWaitMs} ms`;
        throw new StoreError('UNUSABLE', message, { cause: error });
      }
      if (!isSaid && waitedMs > saidAfterMs) {
        isSaid = true;
        onWait(`[baton] Waiting for ${path}: it is held by ${lockHolder(path)}`);
      }
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockAtMostMs);
  }
}

function useWriteAheadLog(db: DatabaseSync, path: string): void {
  const mode = Object.values(db.prepare('PRAGMA journal_mode = WAL').get() ?? {})[0];
  if (mode === 'wal' || mode === 'memory') return;
  throw new StoreError('UNUSABLE', `The file system of ${path} does not support a write-ahead log`);
}

/**
 * Creates the tables in an empty file, in one transaction, and that of texts where it is missing and wanted. Brings tables
 * of an older layout forward. Throws a `StoreError` of code `UNUSABLE` for a file of another release or of another program.
 */
export function createTables(db: DatabaseSync, path: string, textSearch = false): void {
  // Writes even where there is nothing to create, so that a file that cannot be written is noticed now.
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = isEmpty(db) ? create(db) : broughtForward(db, path);
    if (textSearch) db.exec(textSchema);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function isEmpty(db: DatabaseSync): boolean {
  const object = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  return read(db, 'user_version') === 0 && object === undefined;
}

function create(db: DatabaseSync): number {
  db.exec(schema);
  return layouts.current;
}

/** Returns the layout that the file has then: that of a newer release stays. */
function broughtForward(db: DatabaseSync, path: string): number {
  if (read(db, 'application_id') !== applicationId)
    throw new StoreError('UNUSABLE', `${path} is a database of another program`);
  const version = read(db, 'user_version');
  const steps = stepsOf(version, path);
  for (const step of steps) step.run(db);
  return steps.at(-1)?.to ?? version;
}

/** Throws a `StoreError` of code `UNUSABLE` if a newer release brought the file to a layout that this one does not read. */
export function mustReadLayout(db: DatabaseSync, path: string): void {
  stepsOf(read(db, 'user_version'), path);
}

const stepsOf = (layout: number, path: string) =>
  stepsFrom(layout, layouts, { data: path, instead: 'a new file' });

const read = (db: DatabaseSync, pragma: 'user_version' | 'application_id'): number =>
  Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

/** `snapshots`: a probe writes there. */
const tables = ['tasks', 'webhooks', 'records', 'snapshots'];

/** See `Rows.freeze`. Triggers refuse the writes of every process. Called inside the caller's transaction. */
export function freeze(db: DatabaseSync, ms: number): void {
  const isNow = ms === Number.POSITIVE_INFINITY ? '' : `WHEN unixepoch('subsec') * 1000 < ${Date.now() + ms}`;
  for (const table of tables)
    for (const event of ['INSERT', 'UPDATE', 'DELETE']) {
      const name = `frozen_${table}_${event}`;
      db.exec(`DROP TRIGGER IF EXISTS ${name}`);
      if (ms > 0)
        db.exec(
          `CREATE TRIGGER ${name} BEFORE ${event} ON ${table} ${isNow} BEGIN SELECT RAISE(ABORT, 'frozen'); END`,
        );
    }
}
