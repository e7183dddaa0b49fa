import { KeyQueues } from '@batonjs/store/adapter';
import { inside, type Range } from '../layout/keys.ts';
import type { Database } from '../layout/known-task.ts';
import type { KeyValue, RangeRequest } from '../wire/messages.ts';

/** Whole queues up to this length are read as they are. */
const longest = 2_000;
/** How many tasks at the front of a longer queue are remembered as a range. */
const remembered = 1_000;

export type QueueFronts = ReturnType<typeof queueFronts>;

/**
 * The ranges of keys that claims read at the front of long queues: etcd visits all keys of a range, whatever its limit.
 * A range ends after the oldest 1,000 keys. When too few of them are left, the whole folder is read again.
 */
export function queueFronts() {
  const ends = new Map<string, string>();

  return {
    /** Whether only the front of a folder is read. */
    has: (folder: string): boolean => ends.has(folder),
    /** The range to read of a folder whose keys are in the order in which they are claimed. */
    range(folder: string): Range {
      const end = ends.get(folder);
      return end === undefined ? inside(folder) : { key: folder, rangeEnd: end };
    },
    /**
     * Forgets the front if fewer than `limit` of its keys are left, and returns whether it did: the caller then reads the
     * whole folder. `found`: how many keys were read.
     */
    forgetIfShort: (folder: string, found: number, limit: number): boolean =>
      found < limit && ends.delete(folder),
    /** The range to read to find a new front, if the folder is long and was read whole. `count`: how many keys it has. */
    rangeToFind(folder: string, count: number): RangeRequest | undefined {
      if (count <= longest || ends.has(folder)) return undefined;
      return { ...inside(folder), limit: remembered, keysOnly: true };
    },
    /** `keys`: what that range has. */
    remember(folder: string, keys: readonly Pick<KeyValue, 'key'>[]): void {
      const last = keys.at(-1);
      if (last) ends.set(folder, String(last.key));
    },
  };
}

/** More than all processes together add to a queue in a millisecond. */
const mostPerMs = 20;
/** How old a count may be that callers of the store are told, in milliseconds. */
const mostMs = 1_000;

/**
 * Counts the tasks that wait in queues. etcd visits the keys of all of them for each count, so commits of one moment
 * share one, and a queue that cannot have become full since the last one is not counted again. `now`: in milliseconds, of a
 * clock that is never set.
 */
export function waitingCounts(
  { cluster, keys }: Pick<Database, 'cluster' | 'keys'>,
  now: () => number = () => performance.now(),
) {
  /** The last count of each queue, and when it began. */
  const counted = new Map<string, { readonly tasks: number; readonly at: number }>();
  const queues = new KeyQueues();
  /** Counts that have not begun. All callers until then share them. */
  const coming = new Map<string, Promise<number>>();

  async function count(queue: string): Promise<number> {
    // Callers of this moment share it.
    await undefined;
    coming.delete(queue);
    const at = now();
    const [{ count }] = await cluster.read([{ ...inside(keys.waiting(queue)), countOnly: true }]);
    counted.set(queue, { tasks: count, at });
    return count;
  }

  /**
   * `atMost`: the caller only needs to know whether there are fewer. Default 0: an exact count. `oldestMs`: how old it may
   * be. Default a second.
   */
  return async (queue: string, atMost = 0, oldestMs = mostMs): Promise<number> => {
    const last = counted.get(queue);
    const ageMs = last ? now() - last.at : 0;
    if (last && ageMs < oldestMs && last.tasks + (1 + ageMs) * mostPerMs < atMost) return last.tasks;
    // After the count that runs: that one may have missed what the caller knows.
    const next = coming.get(queue) ?? queues.run([queue], () => count(queue));
    coming.set(queue, next);
    return next;
  };
}
