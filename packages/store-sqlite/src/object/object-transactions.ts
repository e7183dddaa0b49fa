import type { Transactions } from '../sql/database.ts';
import type { Tables } from '../tables/tables.ts';
import type { Alarm } from './alarm.ts';
import { type ObjectStorage, storeError } from './object-storage.ts';

/**
 * Transactions of an object, which is the only process on its database: each runs at once and without interruption.
 * A call resolves when all that it wrote or read is on disk. The alarm is set in the same round of the event loop as a
 * write, so that it is stored with it.
 */
export function objectTransactions(
  storage: ObjectStorage,
  { counts, changes }: Tables,
  alarm: Alarm,
): Transactions {
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
