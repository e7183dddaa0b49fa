import { StoreError } from '@batonjs/store';

/** Lets calls in until it is closed, and knows when the last one has left. */
export class OpenCalls {
  readonly #name: string;
  readonly #mustBeUsable: () => void;
  #inside = 0;
  #closed = false;
  #left: (() => void) | undefined;

  /** `name`: of what is closed, for the error. `mustBeUsable`: throws what every call rejects with, if it does. */
  constructor(name: string, mustBeUsable: () => void) {
    this.#name = name;
    this.#mustBeUsable = mustBeUsable;
  }

  /** Rejects with code `UNAVAILABLE` once closed. */
  async pass<T>(call: () => T | Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreError('UNAVAILABLE', `The store ${this.#name} is closed`);
    this.#mustBeUsable();
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
