import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { createTables } from './create-tables.ts';
import { lockHolder } from './lock-holder.ts';
import { isBusy, unusable } from './sqlite-error.ts';

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
 * Opens a file. Creates the file and its folder and tables if they are missing. Blocks this
 * process while another one holds the file. Throws a `StoreError` of code `UNUSABLE` whose message names the fault of
 * the file.
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
