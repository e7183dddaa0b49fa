import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore } from '@batonjs/store/adapter';
import { groupCommit, ownTransactions } from './database/group-commit.ts';
import { hostMonotonic } from './database/host-clock.ts';
import { type Durability, freeze, mustReadLayout, openDatabase } from './database/open-database.ts';
import { fileChangesOf, sweepOf } from './database/sweep.ts';
import { rowsOnTables } from './rows-on-tables.ts';
import { probeOf } from './sql/database.ts';
import { knownTasksOf } from './sql/known-tasks.ts';
import { leasesOf } from './tables/leases.ts';
import { tablesOf } from './tables/tables.ts';

const sqliteOptions = {
  /**
   * What an acknowledged commit survives: `'full'` (default) a power failure, `'normal'` a killed process only,
   * several times faster.
   */
  durability: 'full' as Durability,
  /** The clock of deadlines and of times to start, in milliseconds since 1970. Default: the wall clock. */
  now: undefined as (() => number) | undefined,
  /**
   * How long opening waits for another process that is inside a transaction, or stopped in one, in milliseconds. This
   * process does nothing else meanwhile. Default 30,000.
   */
  openTimeoutMs: undefined as number | undefined,
  /** Called with a message if opening waits for longer than a second. Default: standard error. */
  onWait: undefined as ((message: string) => void) | undefined,
  /**
   * The clock of leases, in whole milliseconds; never set, and the same for all processes on the file. Default: the
   * time since the host was started.
   */
  monotonic: hostMonotonic,
  /** Called after each transaction with its number of writes. If it is always 1, writers wait for each other. */
  onGroup: undefined as ((size: number) => void) | undefined,
  /**
   * Keeps an index of the words of first messages in the file, so that tasks can be listed by `text`, from now on by every
   * process that opens the file after this. Tasks that are there already are not found by their text. Default: as the file has it.
   */
  textSearch: undefined as boolean | undefined,
};

export type SqliteStoreOptions = {
  readonly [Name in keyof typeof sqliteOptions]?: (typeof sqliteOptions)[Name] | undefined;
};

/**
 * Tasks in a SQLite file, for any number of processes of one machine; `':memory:'` for this process alone. The file
 * and its folder are created if they are missing. Throws a `StoreError` of code `UNUSABLE` for a file that cannot be
 * written, is not from this package, or has the schema of another release. Calls reject with `UNUSABLE` once the file
 * was deleted or replaced while it was open.
 */
export function sqliteStore(path: string, given: SqliteStoreOptions = {}): TaskStore & PushConfigStore {
  const { durability, now, monotonic, onGroup, ...opening } = completeOptions(sqliteOptions, given);
  const shared = path !== ':memory:';
  const name = shared ? resolve(path) : path;
  return storeOnDatabase(openDatabase(name, durability, { ...opening, maxWaitMs: opening.openTimeoutMs }), {
    name,
    shared,
    now,
    monotonic,
    onGroup,
  });
}

export interface StoreOnDatabaseOptions {
  /** The name of the database in errors. */
  readonly name: string;
  /** Whether other processes can write to the database at all. */
  readonly shared: boolean;
  /** The wall clock, in milliseconds since 1970. Default: that of this process. */
  readonly now?: (() => number) | undefined;
  /** The clock of leases, in milliseconds; an integer. Default: that of the host. */
  readonly monotonic?: () => number;
  /** Called after each transaction with the number of writes in it. */
  readonly onGroup?: (size: number) => void;
  /** How long a call waits for another process's lock on the file, in milliseconds. Default 4,000. */
  readonly maxWaitMs?: number;
}

/** A store on an open database. `close` of the store closes the database. */
export function storeOnDatabase(
  db: DatabaseSync,
  { name, shared, now, monotonic = hostMonotonic, onGroup, maxWaitMs = 4_000 }: StoreOnDatabaseOptions,
): TaskStore & PushConfigStore {
  const known = knownTasksOf(db);
  const tables = tablesOf(db, { now, leaseNow: monotonic, known });
  const { changes, counts, subscribers } = tables;
  const leases = leasesOf(db);
  const fileChanges = fileChangesOf(db, changes, subscribers);
  const inTransaction = { db, name, maxWaitMs };
  const read = ownTransactions(inTransaction, 'BEGIN');
  const write = ownTransactions(inTransaction, 'BEGIN IMMEDIATE');
  const probe = probeOf(db);
  const sweep = sweepOf(subscribers, fileChanges, shared);
  const file = openFileOf(shared ? name : undefined);
  const confirmFile = () => file.mustBeHere();
  const hooks = [counts, fileChanges, changes, known];
  const group = groupCommit({ ...inTransaction, hooks, confirmFile, onGroup });
  const unsynced = groupCommit({ ...inTransaction, hooks: [], isUnsynced: true });
  /** Whether leases from before the last start of the host have been ended. */
  let areOldLeasesEnded = !shared;

  function usable<Runner>(runner: Runner): Runner {
    file.mustBeUsable();
    return runner;
  }

  async function endOldLeases(): Promise<void> {
    if (await read(() => leases.hasLeasesFromBeforeBoot(monotonic())))
      await group.run(() => {
        leases.endLeasesFromBeforeBoot(monotonic());
        known.forgetAll();
      });
    areOldLeasesEnded = true;
  }

  return createStore(name, {
    ...rowsOnTables({
      tables,
      transactions: {
        read: (work) => usable(read)(work),
        write: (work) => usable(group).run(work),
        writeUnsynced: (work) => usable(unsynced).run(work),
        pause: () => new Promise((resolve) => setImmediate(resolve)),
      },
      subscribe: (topic, notify) => sweep.subscribe(topic, notify),
      beforeClaim: () => (areOldLeasesEnded ? undefined : endOldLeases()),
    }),

    ...(shared && { freeze: (ms) => usable(group).run(() => freeze(db, ms)) }),

    probe: () => {
      file.mustBeHere();
      // A rollback would prove nothing: SQLite writes to the disk only when it commits.
      return write(probe);
    },

    identity: () => {
      file.mustBeHere();
      mustReadLayout(db, name);
      return file.identity;
    },

    close: () => {
      sweep.stop();
      db.close();
    },
  });
}

/**
 * The file that a database was opened from. If it is deleted, or another one takes its place, SQLite goes on with a
 * file that has no name: what it writes is gone when the process ends, and no other process sees it. `path`: undefined for a
 * database in memory. Made after the database was opened and written to.
 */
function openFileOf(path: string | undefined) {
  let error: StoreError | undefined;
  const database = path === undefined ? randomUUID() : (idOf(path) ?? '');
  const log = path && idOf(`${path}-wal`);

  /** Throws the error that `mustBeHere` threw before, if it did. Costs nothing. */
  function mustBeUsable(): void {
    if (error) throw error;
  }

  return {
    mustBeUsable,
    /**
     * Compares the file with the file system, in a few microseconds. Throws a `StoreError` of code `UNUSABLE` if it or
     * its write-ahead log is gone or was replaced; later calls throw the same error.
     */
    mustBeHere(): void {
      mustBeUsable();
      if (path === undefined) return;
      const problem =
        problemOf(path, database) ?? (log !== undefined ? problemOf(`${path}-wal`, log) : undefined);
      if (!problem) return;
      error = new StoreError(
        'UNUSABLE',
        `${problem} while it was in use: nothing more can be stored in it. Restart the process to open the file that is there now`,
      );
      throw error;
    },
    /** Device and number of the file. */
    get identity(): string {
      return database;
    },
  };
}

function problemOf(path: string, expected: string): string | undefined {
  const found = idOf(path);
  if (found === expected) return undefined;
  return found === undefined ? `${path} was deleted or moved` : `${path} was replaced by another file`;
}

function idOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
