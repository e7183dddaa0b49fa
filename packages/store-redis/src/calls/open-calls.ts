import { StoreError } from '@batonjs/store';

/** Counts the calls under way, and refuses new ones once it is closed. */
export class OpenCalls {
  #inside = 0;
  #closed = false;
  #left: (() => void) | undefined;

  readonly #leave = (): void => {
    this.#inside--;
    if (this.#inside === 0) this.#left?.();
  };

  /** Rejects with code `UNAVAILABLE` once closed. */
  pass<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StoreError('UNAVAILABLE', 'The store is closed'));
    this.#inside++;
    const called = call();
    called.then(this.#leave, this.#leave);
    return called;
  }

  /** Refuses new calls. Resolves when the last call has ended. Called once. */
  close(): Promise<void> {
    this.#closed = true;
    return new Promise((resolve) => {
      this.#left = resolve;
      if (this.#inside === 0) resolve();
    });
  }
}
