import { KeyQueues } from '@batonjs/store/adapter';
import type { Database } from '../layout/database.ts';
import { inside } from '../layout/keys.ts';

/** More than all processes together add to a queue in a millisecond. */
const mostPerMs = 20;
/** How old a count may be that callers of the store are told, in milliseconds. */
const mostMs = 1_000;

/**
 * Counts the tasks that wait in queues. etcd visits the keys of all of them for each count, so commits of one moment
 * share one, and a queue that cannot have become full since the last one is not counted again.
 */
export class WaitingCounts {
  readonly #db: Pick<Database, 'cluster' | 'keys'>;
  readonly #now: () => number;
  /** The last count of each queue, and when it began. */
  readonly #last = new Map<string, { readonly tasks: number; readonly at: number }>();
  readonly #queues = new KeyQueues();
  /** Counts that have not begun. All callers until then share them. */
  readonly #next = new Map<string, Promise<number>>();

  /** `now`: in milliseconds, of a clock that is never set. */
  constructor(db: Pick<Database, 'cluster' | 'keys'>, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#now = now;
  }

  /**
   * `atMost`: the caller only needs to know whether there are fewer. Default 0: an exact count. `oldestMs`: how old it may
   * be. Default a second.
   */
  async of(queue: string, atMost = 0, oldestMs = mostMs): Promise<number> {
    const last = this.#last.get(queue);
    const ageMs = last ? this.#now() - last.at : 0;
    if (last && ageMs < oldestMs && last.tasks + (1 + ageMs) * mostPerMs < atMost) return last.tasks;
    // After the count that runs: that one may have missed what the caller knows.
    const next = this.#next.get(queue) ?? this.#queues.run([queue], () => this.#count(queue));
    this.#next.set(queue, next);
    return next;
  }

  async #count(queue: string): Promise<number> {
    // Callers of this moment share it.
    await undefined;
    this.#next.delete(queue);
    const { cluster, keys } = this.#db;
    const at = this.#now();
    const [{ count }] = await cluster.read([{ ...inside(keys.waiting(queue)), countOnly: true }]);
    this.#last.set(queue, { tasks: count, at });
    return count;
  }
}
