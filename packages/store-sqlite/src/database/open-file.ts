import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { StoreError } from '@batonjs/store';

/**
 * The file that a database was opened from. If it is deleted, or another one takes its place, SQLite goes on with a
 * file that has no name: what it writes is gone when the process ends, and no other process sees it.
 */
export class OpenFile {
  readonly #path: string | undefined;
  readonly #database: string;
  readonly #log: string | undefined;
  #error: StoreError | undefined;

  /** `path`: undefined for a database in memory. Made after the database was opened and written to. */
  constructor(path: string | undefined) {
    this.#path = path;
    this.#database = path === undefined ? randomUUID() : (idOf(path) ?? '');
    this.#log = path && idOf(`${path}-wal`);
  }

  /** Device and number of the file. */
  get identity(): string {
    return this.#database;
  }

  /** Throws the error that `mustBeHere` threw before, if it did. Costs nothing. */
  mustBeUsable(): void {
    if (this.#error) throw this.#error;
  }

  /**
   * Compares the file with the file system, in a few microseconds. Throws a `StoreError` of code `UNUSABLE` if it or
   * its write-ahead log is gone or was replaced; later calls throw the same error.
   */
  mustBeHere(): void {
    this.mustBeUsable();
    const path = this.#path;
    if (path === undefined) return;
    const problem =
      problemOf(path, this.#database) ??
      (this.#log !== undefined ? problemOf(`${path}-wal`, this.#log) : undefined);
    if (!problem) return;
    this.#error = new StoreError(
      'UNUSABLE',
      `${problem} while it was in use: nothing more can be stored in it. Restart the process to open the file that is there now`,
    );
    throw this.#error;
  }
}

function problemOf(path: string, expected: string): string | undefined {
  const found = idOf(path);
  if (found === expected) return undefined;
  return found === undefined ? `${path} was deleted or moved` : `${path} was replaced by another file`;
}

function idOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
