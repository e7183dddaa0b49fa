import type { Cluster } from '../cluster/cluster.ts';
import { inside, type Keys } from '../layout/keys.ts';

/** More than all processes together add to a queue in a millisecond. */
const mostPerMs = 20;
/** How long a count may be used, in milliseconds. */
const mostMs = 1_000;

interface Count {
  readonly tasks: number;
  /** When it was begun, in milliseconds. */
  readonly at: number;
}

/**
 * Counts the tasks that wait in queues. etcd visits the keys of all of them for each count, so commits of one moment
 * share one, and a queue that cannot have become full since the last one is not counted again.
 */
export class WaitingCounts {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #last = new Map<string, Count>();
  readonly #running = new Map<string, Promise<Count>>();
  /** Counts that have not begun. All callers until then share them. */
  readonly #next = new Map<string, Promise<Count>>();

  readonly #now: () => number;

  /** `now`: in milliseconds, of a clock that is never set. */
  constructor(cluster: Cluster, keys: Keys, now: () => number = () => performance.now()) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#now = now;
  }

  /** `atMost`: the caller only needs to know whether there are fewer. Default 0: an exact count. */
  async of(queue: string, atMost = 0): Promise<number> {
    const last = this.#last.get(queue);
    const ageMs = last ? this.#now() - last.at : mostMs;
    if (last && ageMs < mostMs && last.tasks + (1 + ageMs) * mostPerMs < atMost) return last.tasks;
    const { tasks } = await (this.#next.get(queue) ?? this.#begin(queue));
    return tasks;
  }

  /** Begins after the count that runs: that one may have missed what the caller knows. */
  #begin(queue: string): Promise<Count> {
    const before = this.#running.get(queue) ?? Promise.resolve();
    const begin = () => {
      this.#next.delete(queue);
      const running = this.#count(queue);
      this.#running.set(queue, running);
      const end = () => {
        if (this.#running.get(queue) === running) this.#running.delete(queue);
      };
      running.then(end, end);
      return running;
    };
    const next = before.then(begin, begin);
    this.#next.set(queue, next);
    return next;
  }

  async #count(queue: string): Promise<Count> {
    const at = this.#now();
    const [range] = await this.#cluster.read([{ ...inside(this.#keys.waiting(queue)), countOnly: true }]);
    const count = { tasks: range!.count ?? 0, at };
    this.#last.set(queue, count);
    return count;
  }
}
