import { type Notification, type Topic, topicNumber, type Unsubscribe } from '../port/task-store.ts';

type Notify = (version?: number) => void;

/** Emptied when it is removed: an outgrown hash table keeps what was in it until the next full collection. */
interface Subscriber {
  readonly topic: Topic;
  notify: Notify | undefined;
}

/** The subscribers of this process, by the numbers of their topics. Nothing is left of one that unsubscribed. */
export class Subscribers {
  /** Mostly one, for which a set would be large. */
  readonly #byNumber = new Map<number, readonly Subscriber[]>();

  get isEmpty(): boolean {
    return this.#byNumber.size === 0;
  }

  /** One topic of each number that has subscribers. */
  get topics(): readonly Topic[] {
    return Array.from(this.#byNumber.values()).flatMap(([first]) => (first ? [first.topic] : []));
  }

  add(topic: Topic, notify: Notify): Unsubscribe {
    const number = topicNumber(topic);
    const subscriber: Subscriber = { topic, notify };
    this.#byNumber.set(number, [...this.#of(number), subscriber]);
    return () => {
      subscriber.notify = undefined;
      const left = this.#of(number).filter((one) => one !== subscriber);
      if (left.length === 0) this.#byNumber.delete(number);
      else this.#byNumber.set(number, left);
    };
  }

  /** `version`: how long the log of the task is, at least. */
  notify(number: number, version?: number): void {
    for (const { notify } of this.#of(number)) if (notify) callSubscriber(notify, version);
  }

  /** Notifies of a change that is stored. */
  notifyOf(topics: readonly Notification[] = []): void {
    if (this.isEmpty) return;
    for (const topic of topics) this.notify(topicNumber(topic), topic.version);
  }

  /** Notifies of what another process has told, in pairs of a number and a version: `[1234, 5, 678, null]`. */
  notifyPairs(pairs: readonly (number | null)[]): void {
    for (let n = 0; n < pairs.length; n += 2) this.notify(pairs[n] ?? 0, pairs[n + 1] ?? undefined);
  }

  notifyAll(): void {
    for (const number of this.#byNumber.keys()) this.notify(number);
  }

  #of(number: number): readonly Subscriber[] {
    return this.#byNumber.get(number) ?? [];
  }
}

/**
 * Calls a function that was given to `subscribe`. An adapter notifies with it: what a subscriber throws becomes an
 * uncaught exception of the process, as with `EventTarget`, and neither rejects a commit that is stored nor keeps
 * other subscribers from being notified.
 */
export function callSubscriber(notify: (version?: number) => void, version?: number): void {
  try {
    notify(version);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
