import { callSubscriber, type Topic } from '@batonjs/store';
import { taskName } from '../database/shards.ts';

type Notify = (version?: number) => void;

/** The subscribers of this process. */
export class Subscribers {
  readonly #byTopic = new Map<string, Set<{ readonly notify: Notify }>>();

  /** Returns the function that unsubscribes. */
  add(topic: Topic, notify: Notify): () => void {
    const key = keyOf(topic);
    const subscribers = this.#byTopic.get(key) ?? new Set();
    this.#byTopic.set(key, subscribers);
    const subscriber = { notify };
    subscribers.add(subscriber);
    return () => {
      if (subscribers.delete(subscriber) && subscribers.size === 0) this.#byTopic.delete(key);
    };
  }

  /** Notifies of a script's message: `q<queue>`, or `t<version>`, NUL and the name of a task. */
  receive(message: string): void {
    const end = message.indexOf('\0');
    if (message.startsWith('q')) this.#notify(message);
    else this.#notify(`t${message.slice(end + 1)}`, Number(message.slice(1, end)));
  }

  notifyAll(): void {
    for (const key of this.#byTopic.keys()) this.#notify(key);
  }

  #notify(key: string, version?: number): void {
    for (const { notify } of this.#byTopic.get(key) ?? []) callSubscriber(notify, version);
  }
}

const keyOf = (topic: Topic): string =>
  'queue' in topic ? `q${topic.queue}` : `t${taskName(topic.scope, topic.taskId)}`;
