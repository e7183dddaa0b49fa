import { sleep } from '@batonjs/protocol/timing';
import { StoreError, type TaskStore } from '@batonjs/store';

/** What requests and WebSockets need of the store: changes are calls of the gateway's own agent server. */
export type StoreReads = Pick<TaskStore, 'load' | 'readFacts' | 'list' | 'subscribe'>;

/** How long `close` waits for a store that does not answer, in milliseconds. */
const longestMs = 5_000;

/**
 * The store as requests and WebSockets read it, until it is closed: the program closes its store as soon as the gateway
 * is, and whatever still asked it then would fail.
 */
export class ReadingStore implements StoreReads {
  readonly #store: TaskStore;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #subscriptions = new Set<() => Promise<void>>();
  #isClosed = false;

  constructor(store: TaskStore) {
    this.#store = store;
  }

  load: TaskStore['load'] = (...args) => this.#ask(() => this.#store.load(...args));
  readFacts: TaskStore['readFacts'] = (...args) => this.#ask(() => this.#store.readFacts(...args));
  list: TaskStore['list'] = (...args) => this.#ask(() => this.#store.list(...args));

  subscribe: TaskStore['subscribe'] = (...args) =>
    this.#ask(async () => {
      const end = await this.#store.subscribe(...args);
      const leave = () => {
        this.#subscriptions.delete(leave);
        return this.#track(async () => end());
      };
      if (this.#isClosed) await leave();
      else this.#subscriptions.add(leave);
      return leave;
    });

  /** Ends all subscriptions, and resolves when nothing asks the store any more. Later calls reject with `UNAVAILABLE`. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const leave of this.#subscriptions) leave().catch(() => {});
    const over = new AbortController();
    await Promise.race([sleep(longestMs, over.signal), Promise.allSettled(this.#underWay)]);
    over.abort();
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StoreError('UNAVAILABLE', 'The gateway is closed');
    return this.#track(call);
  }

  async #track<T>(call: () => Promise<T>): Promise<T> {
    const asked = call();
    this.#underWay.add(asked);
    try {
      return await asked;
    } finally {
      this.#underWay.delete(asked);
    }
  }
}
