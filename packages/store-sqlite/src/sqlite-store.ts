import { resolve } from 'node:path';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { mustKnowOptions } from '@batonjs/store/adapter';
import { hostMonotonic } from './database/host-clock.ts';
import { type Durability, openDatabase } from './database/open-database.ts';
import { storeOnDatabase } from './store-on-database.ts';

export interface SqliteStoreOptions {
  /**
   * What an acknowledged commit survives: `'full'` (default) a power failure, `'normal'` a killed process only,
   * several times faster.
   */
  readonly durability?: Durability | undefined;
  /** The clock of deadlines and of times to start, in milliseconds since 1970. Default: the wall clock. */
  readonly now?: (() => number) | undefined;
  /**
   * How long opening waits for another process that is inside a transaction, or stopped in one, in milliseconds. This
   * process does nothing else meanwhile. Default 30,000.
   */
  readonly openTimeoutMs?: number | undefined;
  /** Called with a message if opening waits for longer than a second. Default: standard error. */
  readonly onWait?: ((message: string) => void) | undefined;
  /**
   * The clock of leases, in whole milliseconds; never set, and the same for all processes on the file. Default: the
   * time since the host was started.
   */
  readonly monotonic?: (() => number) | undefined;
  /** Called after each transaction with its number of writes. If it is always 1, writers wait for each other. */
  readonly onGroup?: ((size: number) => void) | undefined;
  /**
   * Keeps an index of the words of first messages in the file, so that tasks can be listed by `text`, from now on by every
   * process that opens the file after this. Tasks that are there already are not found by their text. Default: as the file has it.
   */
  readonly textSearch?: boolean | undefined;
}

/**
 * Tasks in a SQLite file, for any number of processes of one machine; `':memory:'` for this process alone. The file
 * and its folder are created if they are missing. Throws a `StoreError` of code `UNUSABLE` for a file that cannot be
 * written, is not from this package, or has the schema of another release. Calls reject with `UNUSABLE` once the file
 * was deleted or replaced while it was open.
 */
export function sqliteStore(path: string, options: SqliteStoreOptions = {}): TaskStore & PushConfigStore {
  mustKnowOptions(options, known);
  const { durability = 'full', now, monotonic = hostMonotonic, onGroup, ...opening } = options;
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

const known: Record<keyof SqliteStoreOptions, true> = {
  durability: true,
  now: true,
  openTimeoutMs: true,
  onWait: true,
  monotonic: true,
  onGroup: true,
  textSearch: true,
};
