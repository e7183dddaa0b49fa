import { callSubscriber, type Topic, type Unsubscribe } from '@batonjs/store';
import { Groups } from './groups.ts';

type Notify = (version?: number) => void;

/** The subscribers of each topic. Nothing is left of one that unsubscribed. */
export class Subscribers {
  readonly #byTopic = new Groups<string, Notify>();

  /** How many topics have subscribers. */
  get topics(): number {
    return this.#byTopic.size;
  }

  add(topic: Topic, notify: Notify): Unsubscribe {
    // A new function: the same one may subscribe twice.
    const subscriber: Notify = (version) => notify(version);
    this.#byTopic.add(keyOf(topic), subscriber);
    return () => this.#byTopic.delete(keyOf(topic), subscriber);
  }

  /** `version`: the length of the task's log. */
  notify(topic: Topic, version?: number): void {
    for (const subscriber of this.#byTopic.get(keyOf(topic))) callSubscriber(subscriber, version);
  }

  clear(): void {
    this.#byTopic.clear();
  }
}

const keyOf = (topic: Topic): string =>
  'queue' in topic ? `queue\0${topic.queue}` : `task\0${topic.scope}\0${topic.taskId}`;
