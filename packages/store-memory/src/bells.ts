import type { Topic, Unwatch } from '@batonjs/store';
import { Groups } from './groups.ts';

/** Who wants to be woken by what. Nothing is left of a watcher that stopped. */
export class Bells {
  readonly #watchers = new Groups<string, () => void>();

  /** How many topics are watched. */
  get topics(): number {
    return this.#watchers.size;
  }

  watch(topic: Topic, wake: () => void): Unwatch {
    // A function of its own, for one that watches twice.
    const watcher = () => wake();
    this.#watchers.add(keyOf(topic), watcher);
    return () => this.#watchers.delete(keyOf(topic), watcher);
  }

  ring(topic: Topic): void {
    for (const wake of this.#watchers.get(keyOf(topic))) wake();
  }

  clear(): void {
    this.#watchers.clear();
  }
}

const keyOf = (topic: Topic): string =>
  'queue' in topic ? `queue\0${topic.queue}` : `task\0${topic.scope}\0${topic.taskId}`;
