import type { Cluster } from '../cluster/cluster.ts';
import { inside, type Keys } from '../layout/keys.ts';

/** How long a count is good enough for a queue with room for as many more tasks as could be added since. */
const reusedMs = 100;
/** More tasks than all processes together write to a cluster in that time. */
const mostMeanwhile = 2_000;

interface Count {
  readonly tasks: number;
  /** When it was begun, in milliseconds. */
  readonly at: number;
}

/**
 * Counts the tasks that wait in queues. etcd visits the keys of all of them for each count, so commits of one moment
 * share one, and a queue that is far from full is counted a few times a second.
 */
export class WaitingCounts {
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #last = new Map<string, Count>();
  readonly #running = new Map<string, Promise<Count>>();
  /** Counts that have not begun: all who ask until then share them. */
  readonly #next = new Map<string, Promise<Count>>();

  readonly #now: () => number;

  /** `now`: in milliseconds, of a clock that is never set. */
  constructor(cluster: Cluster, keys: Keys, now: () => number = () => performance.now()) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#now = now;
  }

  /** `most`: the caller only compares the number with that. */
  async of(queue: string, most = 0): Promise<number> {
    const last = this.#last.get(queue);
    if (last && this.#now() - last.at < reusedMs && last.tasks + mostMeanwhile < most) return last.tasks;
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
    const [range] = await this.#cluster.read([{ ...inside(this.#keys.wanted(queue)), countOnly: true }]);
    const count = { tasks: range!.count ?? 0, at };
    this.#last.set(queue, count);
    return count;
  }
}
