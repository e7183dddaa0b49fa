import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '@batonjs/store';

/** A connection, from the moment at which connecting starts. */
export interface Link {
  /** Resolves when it is connected. Rejects if it cannot connect. */
  readonly ready: Promise<void>;
  /** Closes it at once. Calls under way reject. */
  destroy(): void;
}

/** Starts to connect. Calls `lost` when the connection is lost after it was ready. */
export type Open<L extends Link> = (lost: (cause: unknown) => void) => L;

/** How long calls wait for a new connection after one was lost, in milliseconds. Later calls are refused at once. */
const graceMs = 1_000;
const longestBackoffMs = 500;

/** Keeps one connection at a time. Reconnects with backoff when it is lost, until it is closed. */
export class Reconnecting<L extends Link> {
  readonly #open: Open<L>;
  readonly #name: string;
  readonly #timeoutMs: number;
  readonly #retired = new Map<L, NodeJS.Timeout>();
  readonly #stop = new AbortController();
  #link: L | undefined;
  #epoch = 0;
  #next = expected<L>();
  #lost: (cause: unknown) => void = () => {};
  #downSince = performance.now();
  #cause: unknown;

  /** `name`: for messages. `timeoutMs`: how long connecting may take. */
  constructor(open: Open<L>, name: string, timeoutMs: number) {
    this.#open = open;
    this.#name = name;
    this.#timeoutMs = timeoutMs;
    void this.#run();
  }

  /** The connection, while there is one. */
  get link(): L | undefined {
    return this.#link;
  }

  /** The number of the present connection, counted from 1; 0 while there is none. */
  get epoch(): number {
    return this.#link ? this.#epoch : 0;
  }

  /** Waits for a connection if one may come soon. Rejects with code `UNAVAILABLE`. */
  async wait(): Promise<L> {
    if (this.#link) return this.#link;
    const maxWaitMs = this.#epoch > 0 ? Math.min(graceMs, this.#timeoutMs) : this.#timeoutMs;
    const leftMs = this.#downSince + maxWaitMs - performance.now();
    if (leftMs <= 0 || this.#stop.signal.aborted) throw this.unavailable();
    return within(leftMs, this.#next.promise, () => this.unavailable());
  }

  /** Replaces a connection that does not answer. */
  replace(link: L, cause: unknown): void {
    if (link === this.#link) this.#lost(cause);
  }

  unavailable(cause: unknown = this.#cause): StoreError {
    const why = cause instanceof Error && cause.message ? `: ${cause.message}` : '';
    const isRefused = /^: (NOPERM|NOAUTH|WRONGPASS)/.test(why);
    const fault = isRefused ? 'refuses this user' : 'cannot be reached';
    const what = this.#stop.signal.aborted ? 'was disconnected' : fault + why;
    return new StoreError('UNAVAILABLE', `Redis at ${this.#name} ${what}`, { cause });
  }

  close(): void {
    this.#stop.abort();
    this.#lost(undefined);
    this.#next.reject(this.unavailable());
    for (const [link, timer] of this.#retired) {
      clearTimeout(timer);
      link.destroy();
    }
    this.#retired.clear();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      const lost = Promise.withResolvers<unknown>();
      this.#lost = lost.resolve;
      const link = this.#open(lost.resolve);
      try {
        const failed = lost.promise.then((cause) => Promise.reject(cause));
        await within(this.#timeoutMs, Promise.race([link.ready, failed]), () => this.#silent());
        failures = 0;
        await this.#use(link, lost.promise);
      } catch (error) {
        link.destroy();
        this.#cause = error;
        failures++;
        const backoffMs = Math.min(longestBackoffMs, 20 * 2 ** failures) * (0.5 + Math.random() / 2);
        await sleep(backoffMs, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  /** Offers the connection to callers until it is lost. */
  async #use(link: L, lost: Promise<unknown>): Promise<void> {
    this.#link = link;
    this.#epoch++;
    this.#next.resolve(link);
    this.#cause = await lost;
    this.#next = expected();
    this.#link = undefined;
    this.#downSince = performance.now();
    this.#retire(link);
  }

  /** Keeps the old connection open for answers to commands that were sent on it, until their timeout. */
  #retire(link: L): void {
    if (this.#stop.signal.aborted) {
      link.destroy();
      return;
    }
    const drop = () => {
      this.#retired.delete(link);
      link.destroy();
    };
    this.#retired.set(link, setTimeout(drop, this.#timeoutMs).unref());
  }

  #silent(): Error {
    return new Error(`no answer within ${this.#timeoutMs} ms`);
  }
}

/** A promise whose rejection may stay unhandled. */
function expected<T>(): PromiseWithResolvers<T> {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => {});
  return resolvers;
}

/** The promise, or a rejection with `late()` after `ms` milliseconds. */
function within<T>(ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  return Promise.race([promise, end]).finally(() => clearTimeout(timer));
}
