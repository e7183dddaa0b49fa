import { type Notification, type Subscribers, topicNumber } from '@batonjs/store/adapter';
import type { TransactionHook } from '../sql/database.ts';

/** Topics, by number, each with the new length of the task's log. */
type Touched = ReadonlyMap<number, number | undefined>;

/** The topics that a transaction changed. Their subscribers are notified when it is committed. */
export class Changes implements TransactionHook {
  readonly #subscribers: Subscribers;
  #touched = new Map<number, number | undefined>();

  constructor(subscribers: Subscribers) {
    this.#subscribers = subscribers;
  }

  /** The topics so far. */
  get touched(): Touched {
    return this.#touched;
  }

  /** Notes changes made by the present transaction. */
  touch(topics: readonly Notification[] = []): void {
    for (const topic of topics) this.#touched.set(topicNumber(topic), topic.version);
  }

  afterCommit(): void {
    const touched = this.take();
    if (touched) this.notify(touched);
  }

  /** Returns the changes of the transaction that was committed, to notify of them later; undefined if there are none. */
  take(): Touched | undefined {
    if (this.#touched.size === 0) return undefined;
    const touched = this.#touched;
    this.#touched = new Map();
    return touched;
  }

  notify(touched: Touched): void {
    for (const [number, version] of touched) this.#subscribers.notify(number, version);
  }

  afterRollback(): void {
    this.#touched.clear();
  }
}
