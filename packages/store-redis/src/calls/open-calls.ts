import { StoreError } from '@batonjs/store';

/** Lets calls in until it is closed, and knows when the last one has left. */
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

  /** Closes it. Resolves when everybody has left; to be called once. */
  close(): Promise<void> {
    this.#closed = true;
    return new Promise((resolve) => {
      this.#left = resolve;
      if (this.#inside === 0) resolve();
    });
  }
}
