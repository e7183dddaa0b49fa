import type { DatabaseSync } from 'node:sqlite';
import { Backoff } from './backoff.ts';
import { held, isBusy, unavailable } from './sqlite-error.ts';

/** Runs reads, each in a transaction: it sees one state of the database. */
export class Reads {
  readonly #db: DatabaseSync;
  readonly #name: string;
  readonly #maxWaitMs: number;
  readonly #begin;
  readonly #commit;

  constructor({ db, name, maxWaitMs }: { db: DatabaseSync; name: string; maxWaitMs: number }) {
    this.#db = db;
    this.#name = name;
    this.#maxWaitMs = maxWaitMs;
    this.#begin = db.prepare('BEGIN');
    this.#commit = db.prepare('COMMIT');
  }

  /** Rejects with code `UNAVAILABLE` if the file cannot be read, and with whatever `work` throws. */
  async run<T>(work: () => T): Promise<T> {
    const backoff = new Backoff(this.#maxWaitMs);
    for (;;) {
      try {
        return this.#once(work);
      } catch (error) {
        if (!isBusy(error)) throw unavailable(this.#name, error);
        if (backoff.isOver) throw held(this.#name);
      }
      await new Promise((resolve) => setTimeout(resolve, backoff.nextMs()));
    }
  }

  #once<T>(work: () => T): T {
    this.#begin.run();
    try {
      return work();
    } finally {
      if (this.#db.isTransaction) this.#commit.run();
    }
  }
}
