import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { completeOptions, createStore } from '@batonjs/store/adapter';
import { rowsOnTables } from '../rows-on-tables.ts';
import { ProbeRow } from '../sql/probe-row.ts';
import { storedSchema } from './create-tables.ts';
import { dataDeleted, ofThisObject, storeError } from './object-error.ts';
import type { ObjectStorage } from './object-storage.ts';
import { openObject } from './open-object.ts';

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
 * Tasks in the SQLite of a Durable Object: give it `ctx.storage`, in the constructor of the class. Several stores on
 * the storage of one object share their tasks. Throws a `StoreError` of code `UNUSABLE` if the object has no SQLite,
 * has tables of the same names, or was written by another release.
 * Calls resolve when what they wrote is on disk.
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
  const probe = new ProbeRow(tables.db);
  const store = createStore(ofThisObject, {
    ...rowsOnTables({
      tables,
      transactions,
      subscribe: (topic, notify) => tables.subscribers.add(topic, notify),
      beforeClaim: () => alarm.restore(),
    }),
    probe: () => transactions.write(() => probe.write()),
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
