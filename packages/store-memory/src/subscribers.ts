import type { Topic, Unsubscribe } from '@batonjs/store';
import { Groups } from './groups.ts';

type Notify = (version?: number) => void;

/** Who wants to be woken by what. Nothing is left of a watcher that stopped. */
export class Bells {
  readonly #watchers = new Groups<string, Notify>();

  /** How many topics are watched. */
  get topics(): number {
    return this.#watchers.size;
  }

  subscribe(topic: Topic, notify: Notify): Unsubscribe {
    // A function of its own, for one that watches twice.
    const watcher: Notify = (version) => notify(version);
    this.#watchers.add(keyOf(topic), watcher);
    return () => this.#watchers.delete(keyOf(topic), watcher);
  }

  /** `version`: the length of the task's log. */
  ring(topic: Topic, version?: number): void {
    for (const notify of this.#watchers.get(keyOf(topic))) notify(version);
  }

  clear(): void {
    this.#watchers.clear();
  }
}

const keyOf = (topic: Topic): string =>
  'queue' in topic ? `queue\0${topic.queue}` : `task\0${topic.scope}\0${topic.taskId}`;
