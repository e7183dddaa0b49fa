import type { DatabaseSync } from 'node:sqlite';
import { Backoff } from './backoff.ts';
import { held, isBusy, unavailable } from './sqlite-error.ts';

/** Large enough to need pages of its own: the write fails if the file cannot grow. */
const content = ' '.repeat(32 * 1024);

/** Checks that the file can be written, in a transaction of its own that leaves nothing behind. */
export class Probe {
  readonly #db: DatabaseSync;
  readonly #name: string;
  readonly #maxWaitMs: number;
  readonly #begin;
  readonly #insert;
  readonly #delete;
  readonly #commit;
  readonly #rollback;

  constructor({ db, name, maxWaitMs }: { db: DatabaseSync; name: string; maxWaitMs: number }) {
    this.#db = db;
    this.#name = name;
    this.#maxWaitMs = maxWaitMs;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    // No task has this number.
    this.#insert = db.prepare('INSERT INTO snapshots (task, version, snapshot) VALUES (-1, 0, ?)');
    this.#delete = db.prepare('DELETE FROM snapshots WHERE task = -1');
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
      this.#insert.run(content);
      this.#delete.run();
      // A rollback would prove nothing: SQLite writes to the disk only when it commits.
      this.#commit.run();
    } finally {
      if (this.#db.isTransaction) this.#rollback.run();
    }
  }
}
