import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import { completeOptions, createStore, stepsFrom } from '@batonjs/store/adapter';
import { rowsOnTables } from '../rows-on-tables.ts';
import { probeOf, type Transactions } from '../sql/database.ts';
import { layouts, schema } from '../sql/schema.ts';
import { leasesOf } from '../tables/leases.ts';
import { type Tables, tablesOf } from '../tables/tables.ts';
import { Alarm, nextWorkOf } from './alarm.ts';
import {
  dataDeleted,
  type ObjectStorage,
  objectDatabase,
  ofThisObject,
  storeError,
} from './object-storage.ts';

export interface DurableObjectStoreOptions {
  /**
   * How soon an object that was evicted or died starts again while a turn runs or waits, in milliseconds. An alarm goes
   * off that often while a turn runs; for tasks that wait and that no agent takes, alarms become rarer, up to one an
   * hour. The first store of an object decides. More than 0, at most 86,400,000. Default 30,000.
   */
  readonly recoverAfterMs?: number | undefined;
}

/** Tasks in a Durable Object. */
export interface DurableObjectStore extends TaskStore, PushConfigStore {
  /**
   * To be called by the method `alarm` of the class. The store sets the alarm of the object while turns run or wait, and
   * for the time at which a task or webhook is due; the object cannot have other alarms.
   */
  alarm(): Promise<void>;
}

/**
 * Tasks in the SQLite of a Durable Object: give it `ctx.storage`, in the constructor of the class. Several stores on the
 * storage of one object share their tasks. Throws a `StoreError` of code `UNUSABLE` if the object has no SQLite, has tables
 * of the same names, or was written by another release. Calls resolve when what they wrote is on disk.
 */
export function durableObjectStore(
  storage: ObjectStorage,
  options: DurableObjectStoreOptions = {},
): DurableObjectStore {
  const { recoverAfterMs } = completeOptions({ recoverAfterMs: 30_000 }, options);
  if (!(recoverAfterMs > 0 && recoverAfterMs <= 86_400_000))
    throw new RangeError(
      `recoverAfterMs is ${recoverAfterMs}, and must be more than 0 and at most 86,400,000`,
    );
  const { identity, tables, transactions, alarm } = openObject(storage, recoverAfterMs);
  const probe = probeOf(tables.db);
  const store = createStore(ofThisObject, {
    ...rowsOnTables({
      tables,
      transactions,
      subscribe: (topic, notify) => tables.subscribers.add(topic, notify),
      beforeClaim: () => alarm.restore(),
    }),
    probe: () => transactions.write(probe),
    identity: () =>
      transactions.read(() => {
        if (storedSchema(storage)?.identity === identity) return identity;
        throw dataDeleted();
      }),
    close: () => {},
    isPrivate: true,
  });

  return {
    ...store,

    async alarm() {
      try {
        // Nothing is left to be woken for once the data was deleted: Cloudflare would repeat an alarm that fails.
        if (storedSchema(storage)?.identity === identity) await alarm.setNext();
      } catch (error) {
        throw storeError(error);
      }
    },
  };
}

/** What all stores on the storage of one object share. */
export interface OpenObject {
  readonly identity: string;
  readonly tables: Tables;
  readonly transactions: Transactions;
  readonly alarm: Alarm;
}

/** A value may have 2 MB. A character of JavaScript is up to 3 bytes of UTF-8. */
const longestText = 500_000;

/** Leases go by the clock of alarms, which is that of Cloudflare. */
const wallClock = (): number => Date.now();

const openObjects = new WeakMap<ObjectStorage, OpenObject>();

/**
 * Opens the storage of an object, once for each start of the object. No other process can have a lease then: those that
 * are left belonged to the object that was evicted or died, and end at once.
 */
function openObject(storage: ObjectStorage, recoverAfterMs: number): OpenObject {
  mustHaveSql(storage);
  const open = openObjects.get(storage);
  if (open && storedSchema(storage)?.identity === open.identity) return open;
  open?.alarm.end(dataDeleted());

  const identity = createTables(storage);
  const db = objectDatabase(storage);
  const tables = tablesOf(db, { leaseNow: wallClock, longestText });
  const alarm = new Alarm({ storage, nextWork: nextWorkOf(db), now: wallClock, recoverAfterMs });
  const transactions = objectTransactions(storage, tables, alarm);
  storage.transactionSync(() => leasesOf(db).endAll(wallClock()));
  const opened = { identity, tables, transactions, alarm };
  openObjects.set(storage, opened);
  return opened;
}

function mustHaveSql(storage: ObjectStorage): void {
  try {
    storage.sql.exec('SELECT 1').toArray();
  } catch (error) {
    const advice =
      'Give its class `"storage": "sqlite"` in `exports`, or list it in `new_sqlite_classes` of a migration';
    throw new StoreError('UNUSABLE', `The storage ${ofThisObject} has no SQLite. ${advice}`, {
      cause: error,
    });
  }
}

/** As SQLite keeps it: a table of that name with another definition is not ours. */
const ownTable = 'CREATE TABLE baton (version INTEGER NOT NULL, identity TEXT NOT NULL) STRICT';

/**
 * Creates the tables if there are none, and brings older ones forward, all or not at all. Returns the identity of the data. Throws a `StoreError` of code
 * `UNUSABLE` for tables of another release, and for tables of the same name that are not ours.
 */
function createTables(storage: ObjectStorage): string {
  const { sql } = storage;
  return storage.transactionSync(() => {
    const stored = storedSchema(storage);
    if (stored) {
      const names = { data: `The SQLite ${ofThisObject}`, instead: 'another object' };
      for (const step of stepsFrom(stored.version, layouts, names)) {
        step.run(objectDatabase(storage));
        sql.exec('UPDATE baton SET version = ?', step.to);
      }
      return stored.identity;
    }
    mustBeFree(storage);
    const identity = crypto.randomUUID();
    sql.exec(ownTable);
    sql.exec(schema);
    sql.exec('INSERT INTO baton (version, identity) VALUES (?, ?)', layouts.current, identity);
    return identity;
  });
}

/** The version of the schema and the identity of the data; undefined if there are no tables. */
function storedSchema({ sql }: ObjectStorage): { version: number; identity: string } | undefined {
  const [table] = sql.exec("SELECT sql FROM sqlite_schema WHERE name = 'baton'").toArray();
  if (table?.sql !== ownTable) return undefined;
  const [row] = sql.exec('SELECT version, identity FROM baton').toArray();
  return row && { version: Number(row.version), identity: String(row.identity) };
}

/** The object may have tables of its own, by other names. */
function mustBeFree({ sql }: ObjectStorage): void {
  const names = Array.from(
    `${ownTable}; ${schema}`.matchAll(/CREATE (?:TABLE|INDEX) (\w+)/g),
    ([, name]) => name,
  );
  const taken = sql
    .exec(
      'SELECT name FROM sqlite_schema WHERE lower(name) IN (SELECT value FROM json_each(?))',
      JSON.stringify(names),
    )
    .toArray();
  if (taken.length === 0) return;
  const own = taken.map(({ name }) => name).join(', ');
  throw new StoreError(
    'UNUSABLE',
    `The SQLite ${ofThisObject} has other tables or indexes of these names: ${own}. Use another class for the agent`,
  );
}

/**
 * Transactions of an object, which is the only process on its database: each runs at once and without interruption.
 * A call resolves when all that it wrote or read is on disk. The alarm is set in the same round of the event loop as a
 * write, so that it is stored with it.
 */
function objectTransactions(storage: ObjectStorage, { counts, changes }: Tables, alarm: Alarm): Transactions {
  /** The latest writes, while they are on their way to the disk. */
  let syncing: Promise<void> | undefined;

  function sync(): Promise<void> {
    const written = storage.sync();
    syncing = written;
    const end = () => {
      if (syncing === written) syncing = undefined;
    };
    written.then(end, end);
    return written;
  }

  async function write<T>(work: () => T): Promise<T> {
    alarm.mustBeUsable();
    let result: T;
    try {
      result = storage.transactionSync(() => {
        const value = work();
        counts.beforeCommit();
        return value;
      });
    } catch (error) {
      counts.afterRollback();
      changes.afterRollback();
      throw storeError(error);
    }
    // Taken now: a later write that fails would otherwise forget them before this one is on disk.
    const touched = changes.take();
    try {
      const following = alarm.plan();
      // The output gate is not enough: it does not hold back chunks of a response that has begun.
      await (following ? Promise.all([following, sync()]) : sync());
    } catch (error) {
      throw storeError(error);
    } finally {
      // Also after a failure: the write may have happened.
      if (touched) changes.notify(touched);
    }
    return result;
  }

  return {
    async read(work) {
      alarm.mustBeUsable();
      try {
        const result = work();
        if (syncing) await syncing;
        return result;
      } catch (error) {
        throw storeError(error);
      }
    },
    write,
    writeUnsynced: write,
    pause: () => new Promise((resolve) => setTimeout(resolve)),
  };
}
