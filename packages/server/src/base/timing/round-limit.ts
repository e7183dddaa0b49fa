/** Lets at most `most` callers continue in each round of the event loop. The others wait for later rounds, in order. */
export class RoundLimit {
  readonly #most: number;
  #left: number;
  #waiting: (() => void)[] = [];
  #isRefilling = false;

  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  /** Undefined if the caller may continue at once; otherwise resolves when it may. */
  enter(): Promise<void> | undefined {
    if (!this.#isRefilling) void this.#refill();
    if (this.#left > 0) {
      this.#left--;
      return undefined;
    }
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  async #refill(): Promise<void> {
    this.#isRefilling = true;
    do {
      await nextRound();
      const next = this.#waiting.splice(0, this.#most);
      this.#left = this.#most - next.length;
      for (const resolve of next) resolve();
      // Stops after a round in which nothing waited.
    } while (this.#left < this.#most);
    this.#isRefilling = false;
  }
}

/** Resolves once the event loop has handled the timers and connections that are due. */
export const nextRound = (): Promise<void> =>
  new Promise((resolve) => {
    // Workers have only timers, which take longer.
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve);
  });
