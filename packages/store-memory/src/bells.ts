import type { Topic, Unwatch } from '@batonjs/store';
import { Groups } from './groups.ts';

type Wake = (version?: number) => void;

/** Who wants to be woken by what. Nothing is left of a watcher that stopped. */
export class Bells {
  readonly #watchers = new Groups<string, Wake>();

  /** How many topics are watched. */
  get topics(): number {
    return this.#watchers.size;
  }

  watch(topic: Topic, wake: Wake): Unwatch {
    // A function of its own, for one that watches twice.
    const watcher: Wake = (version) => wake(version);
    this.#watchers.add(keyOf(topic), watcher);
    return () => this.#watchers.delete(keyOf(topic), watcher);
  }

  /** `version`: the length of the task's log. */
  ring(topic: Topic, version?: number): void {
    for (const wake of this.#watchers.get(keyOf(topic))) wake(version);
  }

  clear(): void {
    this.#watchers.clear();
  }
}

const keyOf = (topic: Topic): string =>
  'queue' in topic ? `queue\0${topic.queue}` : `task\0${topic.scope}\0${topic.taskId}`;
