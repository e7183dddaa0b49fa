import { StoreError } from '@batonjs/store';

/** Counts the calls under way, and refuses new ones once it is closed. */
export class OpenCalls {
  readonly #name: string;
  #inside = 0;
  #closed = false;
  #left: (() => void) | undefined;

  /** `name`: the database, for the error. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Rejects with code `UNAVAILABLE` once closed. */
  async pass<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new StoreError('UNAVAILABLE', `The store in ${this.#name} is closed`);
    this.#inside++;
    try {
      return await call();
    } finally {
      this.#inside--;
      if (this.#inside === 0) this.#left?.();
    }
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
