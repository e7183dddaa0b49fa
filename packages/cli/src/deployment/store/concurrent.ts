/** How many tasks are written beside each other. */
const atOnce = 32;

/** Runs work beside other work, a few at once. An error rejects a later call. */
export class Concurrent {
  readonly #pending = new Set<Promise<void>>();

  /** Resolves once the work has begun. */
  async run(work: () => Promise<void>): Promise<void> {
    while (this.#pending.size >= atOnce) await Promise.race(this.#pending);
    const one: Promise<void> = work().then(() => void this.#pending.delete(one));
    // It stays pending, and is found there.
    one.catch(() => {});
    this.#pending.add(one);
  }

  /** Resolves once all is done. */
  async end(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
