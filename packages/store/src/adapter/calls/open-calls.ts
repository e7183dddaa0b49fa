import { type Answer, isPending } from '../../port/rows.ts';
import { StoreError } from '../../port/store-error.ts';

/** Counts the calls under way, and refuses new ones once the store is closed. */
export class OpenCalls {
  readonly #name: string;
  #inside = 0;
  #isClosed = false;
  #left: (() => void) | undefined;

  readonly #leave = (): void => {
    this.#inside--;
    if (this.#inside === 0) this.#left?.();
  };

  /** `name`: that of the database, for errors. */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * The outcome of a call. Rejects with what it throws, and with code `UNAVAILABLE` once closed. One that answers at once is
   * not counted.
   */
  pass<T>(call: () => Answer<T>): Answer<T> {
    if (this.#isClosed)
      return Promise.reject(new StoreError('UNAVAILABLE', `The store ${this.#name} is closed`));
    try {
      const answer = call();
      if (!isPending(answer)) return answer;
      this.#inside++;
      // A caller may look at the outcome later.
      answer.then(this.#leave, this.#leave);
      return answer;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Refuses new calls. Resolves when the last call has ended. Called once. */
  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      this.#left = resolve;
      if (this.#inside === 0) resolve();
    });
  }
}
