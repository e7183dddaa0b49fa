import type { LogDependencies } from './log-dependencies.ts';

/** Logs when the data of the store was emptied or replaced while this process was running. */
export class StoreIdentity {
  readonly #dependencies: Pick<LogDependencies, 'store' | 'logger'>;
  #known: string | undefined;

  constructor(dependencies: Pick<LogDependencies, 'store' | 'logger'>) {
    this.#dependencies = dependencies;
  }

  /**
   * Reads the identity of the store, with one cheap call. Never rejects: an outage of the store is logged
   * elsewhere.
   */
  async refresh(): Promise<void> {
    const { store, logger } = this.#dependencies;
    try {
      const identity = await store.identity();
      if (this.#known !== undefined && identity !== this.#known) {
        const details = { before: this.#known, now: identity };
        logger('error', 'The store was emptied or replaced: the tasks it held are gone', details);
      }
      this.#known = identity;
    } catch {
      // The store logs its outages itself.
    }
  }
}
