import type { Database } from './database.ts';

/** Large enough to need pages of its own: the write fails if the database cannot grow. */
const content = ' '.repeat(32 * 1024);

/** A row that shows whether the database can be written. */
export class ProbeRow {
  readonly #insert;
  readonly #delete;

  constructor(db: Database) {
    // No task has this number.
    this.#insert = db.prepare('INSERT INTO snapshots (task, version, snapshot) VALUES (-1, 0, ?)');
    this.#delete = db.prepare('DELETE FROM snapshots WHERE task = -1');
  }

  /** Writes the row and deletes it. Called inside the caller's transaction, which must be committed to show anything. */
  write(): void {
    this.#insert.run(content);
    this.#delete.run();
  }
}
