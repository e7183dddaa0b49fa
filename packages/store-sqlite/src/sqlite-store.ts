import { resolve } from 'node:path';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { completeOptions } from '@batonjs/store/adapter';
import { hostMonotonic } from './database/host-clock.ts';
import { type Durability, openDatabase } from './database/open-database.ts';
import { storeOnDatabase } from './store-on-database.ts';

/** The options, with their defaults. */
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
