import type { TaskName } from '@batonjs/store';
import type { Database, KeptTask, TransactionHook } from './database.ts';

/** How many are known at most. They are read again after that. */
const most = 1_024;

/**
 * Rows of open tasks as this connection wrote them last, so that its next write need not read them. Only inside a
 * transaction that writes, which no other one changes: they are those of the file unless another connection has committed
 * since, and `data_version` says whether one has.
 */
export class KnownTasks implements TransactionHook {
  readonly #version;
  readonly #rows = new Map<string, KeptTask>();
  #seen: unknown;
  #isWriting = false;

  constructor(db: Database) {
    this.#version = db.prepare('PRAGMA data_version');
  }

  afterBegin(): void {
    const version = this.#version.get()?.data_version;
    if (version !== this.#seen) this.#rows.clear();
    this.#seen = version;
    this.#isWriting = true;
  }

  afterCommit(): void {
    this.#isWriting = false;
  }

  afterRollback(): void {
    this.#isWriting = false;
    this.#rows.clear();
  }

  find(name: TaskName): KeptTask | undefined {
    return this.#isWriting ? this.#rows.get(keyOf(name)) : undefined;
  }

  /** To be called for each row that is written. */
  note(row: KeptTask): void {
    // Hardly anything is written to a task whose log is closed.
    if (!this.#isWriting || row.head?.closed) {
      this.forget(row);
      return;
    }
    if (this.#rows.size === most) this.#rows.clear();
    this.#rows.set(keyOf(row), row);
  }

  /** To be called for each row that is deleted. */
  forget(name: TaskName): void {
    this.#rows.delete(keyOf(name));
  }

  /** To be called by statements that change rows of many tasks. */
  forgetAll(): void {
    this.#rows.clear();
  }
}

const keyOf = ({ scope, taskId }: TaskName): string => `${taskId}\n${scope}`;
