import { StoreError } from '@batonjs/store';

/** Lets calls in until it is closed, and knows when the last one has left. */
export class Gate {
  #inside = 0;
  #closed = false;
  #left: (() => void) | undefined;

  /** Rejects with code `UNAVAILABLE` once closed. */
  async pass<T>(call: () => T | Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreError('UNAVAILABLE', 'The store is closed');
    this.#inside++;
    try {
      return await call();
    } finally {
      this.#inside--;
      if (this.#inside === 0) this.#left?.();
    }
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
