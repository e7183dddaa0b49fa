import { StoreError } from '@batonjs/store';
import type { LiveSettings } from './live-tasks.ts';

/** Notices that the data of the store was emptied or replaced while this process was running, and logs it. */
export class StoreIdentity {
  readonly #settings: Pick<LiveSettings, 'store' | 'log'>;
  #known: string | undefined;
  #isUnusable = false;

  constructor(settings: Pick<LiveSettings, 'store' | 'log'>) {
    this.#settings = settings;
  }

  /** Asks the store, with one cheap call. Never rejects: a store that does not answer is reported by the calls that need it. */
  async check(): Promise<void> {
    const { store, log } = this.#settings;
    try {
      const identity = await store.identity();
      if (this.#known !== undefined && identity !== this.#known) {
        const details = { before: this.#known, now: identity };
        log('error', 'The store was emptied or replaced: the tasks it held are gone', details);
      }
      this.#known = identity;
      this.#isUnusable = false;
    } catch (error) {
      if (!StoreError.is(error, 'UNUSABLE')) return;
      if (!this.#isUnusable) log('error', 'The store cannot be used', { error });
      this.#isUnusable = true;
    }
  }
}
