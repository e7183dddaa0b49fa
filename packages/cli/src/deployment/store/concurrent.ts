/** How many tasks are written beside each other. */
const atOnce = 32;

/** Runs work beside other work, a few at once. Its first error rejects the next call. */
export class Concurrent {
  readonly #pending = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Resolves once the work has begun. */
  async run(work: () => Promise<void>): Promise<void> {
    while (this.#pending.size >= atOnce) await Promise.race(this.#pending);
    this.#mustNotHaveFailed();
    const one: Promise<void> = work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#pending.delete(one));
    this.#pending.add(one);
  }

  /** Resolves once all is done. */
  async end(): Promise<void> {
    await Promise.all(this.#pending);
    this.#mustNotHaveFailed();
  }

  #mustNotHaveFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
