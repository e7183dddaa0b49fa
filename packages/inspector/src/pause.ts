import { sleep } from '@batonjs/protocol/timing';

/** Tells a reader that there is something new. */
export class News {
  #changed = new AbortController();

  /** The next `wait` ends, or that which waits now. */
  readonly notify = (): void => this.#changed.abort();

  /** Resolves once it was notified since the last `wait`, after this many milliseconds, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(ms, AbortSignal.any([signal, this.#changed.signal]));
    this.#changed = new AbortController();
  }
}
