import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { migrate } from './migrate.ts';
import { isBusy, unusable } from './sqlite-error.ts';

/** What an acknowledged commit survives: `full` a power failure, `normal` a killed process. */
export type Durability = 'full' | 'normal';

/** How long opening waits for other processes that hold the file, in milliseconds. */
const patienceMs = 5_000;

/** How long a statement may block this process for another one's lock, in milliseconds. */
const blockAtMostMs = 5;

/**
 * Opens a file, creates it and its folder where they are missing, and brings it to the newest schema. Throws a
 * `StoreError` of code `UNUSABLE` that says what is wrong with the file.
 */
export function openDatabase(path: string, durability: Durability): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true });
    db = new DatabaseSync(path);
    db.exec(`PRAGMA busy_timeout = ${patienceMs}; PRAGMA foreign_keys = OFF`);
    useWriteAheadLog(db, path);
    db.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
    migrate(db, path);
    db.exec(`PRAGMA busy_timeout = ${blockAtMostMs}`);
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

function useWriteAheadLog(db: DatabaseSync, path: string): void {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      const mode = Object.values(db.prepare('PRAGMA journal_mode = WAL').get() ?? {})[0];
      if (mode === 'wal' || mode === 'memory') return;
      throw new StoreError('UNUSABLE', `The file system of ${path} does not support a write-ahead log`);
    } catch (error) {
      // SQLite gives up at once, whatever its timeout, when several processes switch a new file over.
      if (!isBusy(error) || performance.now() > end) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
