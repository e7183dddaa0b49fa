import type { DatabaseSync } from 'node:sqlite';
import { Backoff } from './backoff.ts';
import { held, isBusy, unavailable } from './sqlite-error.ts';

export interface OwnTransactionsOptions {
  readonly db: DatabaseSync;
  /** The name of the database in errors. */
  readonly name: string;
  /** How long to wait for another process's lock on the file, in milliseconds. */
  readonly maxWaitMs: number;
  /** How each begins: one that writes takes the lock at once. */
  readonly begin: 'BEGIN' | 'BEGIN IMMEDIATE';
}

/** Runs work in transactions of its own, each at once: it sees one state of the database. */
export class OwnTransactions {
  readonly #options: OwnTransactionsOptions;
  readonly #begin;
  readonly #commit;
  readonly #rollback;

  constructor(options: OwnTransactionsOptions) {
    this.#options = options;
    this.#begin = options.db.prepare(options.begin);
    this.#commit = options.db.prepare('COMMIT');
    this.#rollback = options.db.prepare('ROLLBACK');
  }

  /** Rejects with code `UNAVAILABLE`, and says why, if the file fails, and with whatever `work` throws. */
  async run<T>(work: () => T): Promise<T> {
    const { name, maxWaitMs } = this.#options;
    const backoff = new Backoff(maxWaitMs);
    for (;;) {
      try {
        return this.#once(work);
      } catch (error) {
        if (!isBusy(error)) throw unavailable(name, error);
        if (backoff.isOver) throw held(name);
      }
      await new Promise((resolve) => setTimeout(resolve, backoff.nextMs()));
    }
  }

  #once<T>(work: () => T): T {
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } finally {
      if (this.#options.db.isTransaction) this.#rollback.run();
    }
  }
}
