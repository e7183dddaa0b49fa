import type { DatabaseSync } from 'node:sqlite';
import type { ProbeRow } from '../sql/probe-row.ts';
import { Backoff } from './backoff.ts';
import { held, isBusy, unavailable } from './sqlite-error.ts';

interface ProbeOptions {
  readonly db: DatabaseSync;
  /** The name of the database in errors. */
  readonly name: string;
  /** How long to wait for another process's lock on the file, in milliseconds. */
  readonly maxWaitMs: number;
  readonly row: ProbeRow;
}

/** Checks that the file can be written, in a transaction of its own that leaves nothing behind. */
export class Probe {
  readonly #db: DatabaseSync;
  readonly #name: string;
  readonly #maxWaitMs: number;
  readonly #begin;
  readonly #row: ProbeRow;
  readonly #commit;
  readonly #rollback;

  constructor({ db, name, maxWaitMs, row }: ProbeOptions) {
    this.#db = db;
    this.#name = name;
    this.#maxWaitMs = maxWaitMs;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#row = row;
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
  }

  /** Rejects with code `UNAVAILABLE`, and says why, if nothing can be written. */
  async run(): Promise<void> {
    const backoff = new Backoff(this.#maxWaitMs);
    for (;;) {
      try {
        this.#write();
        return;
      } catch (error) {
        if (!isBusy(error)) throw unavailable(this.#name, error);
        if (backoff.isOver) throw held(this.#name);
      }
      await new Promise((resolve) => setTimeout(resolve, backoff.nextMs()));
    }
  }

  #write(): void {
    this.#begin.run();
    try {
      this.#row.write();
      // A rollback would prove nothing: SQLite writes to the disk only when it commits.
      this.#commit.run();
    } finally {
      if (this.#db.isTransaction) this.#rollback.run();
    }
  }
}
