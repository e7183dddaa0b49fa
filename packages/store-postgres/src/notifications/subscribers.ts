import { callSubscriber, type Topic } from '@batonjs/store';

type Notify = (version?: number) => void;

/**
 * The number under which a change of a topic is sent to other processes. Two topics may have the same number: their
 * subscribers are then notified too often, which the port allows.
 */
export function numberOf(topic: Topic): number {
  const name = 'queue' in topic ? `queue ${topic.queue}` : `task ${topic.taskId} ${topic.scope}`;
  let number = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    number = Math.imul(number ^ name.charCodeAt(index), 0x01000193);
  }
  return number >>> 0;
}

/** The subscribers of this process, by the numbers of their topics. */
export class Subscribers {
  readonly #byNumber = new Map<number, { readonly topic: Topic; readonly all: Set<{ notify: Notify }> }>();

  get isEmpty(): boolean {
    return this.#byNumber.size === 0;
  }

  /** One topic of each number. */
  get topics(): Topic[] {
    return [...this.#byNumber.values()].map(({ topic }) => topic);
  }

  /** Returns the function that unsubscribes. */
  add(topic: Topic, notify: Notify): () => void {
    const number = numberOf(topic);
    const { all } = this.#byNumber.get(number) ?? { all: new Set() };
    this.#byNumber.set(number, { topic, all });
    const subscriber = { notify };
    all.add(subscriber);
    return () => {
      if (all.delete(subscriber) && all.size === 0) this.#byNumber.delete(number);
    };
  }

  /** `version`: how long the log of the task is, at least. */
  notify(number: number, version?: number): void {
    for (const { notify } of this.#byNumber.get(number)?.all ?? []) callSubscriber(notify, version);
  }

  notifyAll(): void {
    for (const number of this.#byNumber.keys()) this.notify(number);
  }
}
