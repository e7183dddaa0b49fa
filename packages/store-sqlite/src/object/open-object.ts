import { StoreError } from '@batonjs/store';
import type { Transactions } from '../sql/transactions.ts';
import { Leases } from '../tables/leases.ts';
import { Tables } from '../tables/tables.ts';
import { Alarm } from './alarm.ts';
import { createTables, storedSchema } from './create-tables.ts';
import { NextWork } from './next-work.ts';
import { objectDatabase } from './object-database.ts';
import { dataDeleted, ofThisObject } from './object-error.ts';
import type { ObjectStorage } from './object-storage.ts';
import { objectTransactions } from './object-transactions.ts';

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
export function openObject(storage: ObjectStorage, recoverAfterMs: number): OpenObject {
  mustHaveSql(storage);
  const open = openObjects.get(storage);
  if (open && storedSchema(storage)?.identity === open.identity) return open;
  open?.alarm.end(dataDeleted());

  const identity = createTables(storage);
  const db = objectDatabase(storage);
  const tables = new Tables(db, { leaseNow: wallClock, longestText });
  const alarm = new Alarm({ storage, nextWork: new NextWork(db), now: wallClock, recoverAfterMs });
  const transactions = objectTransactions(storage, tables, alarm);
  storage.transactionSync(() => new Leases(db).endAll(wallClock()));
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
