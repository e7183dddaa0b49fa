import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { Backoff } from './backoff.ts';
import { held, isBusy, unavailable } from './sqlite-error.ts';

/** What belongs to a transaction as a whole. */
export interface SideEffect {
  /** The last writes of the transaction. */
  write(): void;
  /** It is committed. */
  announce?(): void;
  /** It was rolled back. */
  forget(): void;
}

export interface GroupCommitOptions {
  readonly db: DatabaseSync;
  /** What errors call the database. */
  readonly name: string;
  /** How long a write waits for other processes that hold the file, in milliseconds. */
  readonly maxWaitMs: number;
  readonly effects: readonly SideEffect[];
  /** Called after each commit, before its writes resolve. They all reject with what it throws. */
  readonly confirmFile?: () => void;
  /** Told how many writes each committed transaction held. */
  readonly onGroup?: (size: number) => void;
}

interface Write {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly backoff: Backoff;
}

/** More than this would keep the event loop from turning for too long. */
const largestGroup = 256;

/**
 * Writes that arrive in one turn of the event loop share one transaction, and one `fsync`. A write that is refused
 * refuses only itself; a medium that fails fails them all. A transaction begins and ends in one go: nothing else of this
 * process can come between.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  #waiting: Write[] = [];
  #scheduled = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#begin = options.db.prepare('BEGIN IMMEDIATE');
    this.#commit = options.db.prepare('COMMIT');
    this.#rollback = options.db.prepare('ROLLBACK');
  }

  /**
   * Runs a write in the next transaction and resolves, once that is committed, to what the write returned. A write
   * refuses by throwing a `StoreError` before it changes anything. Rejects with code `UNAVAILABLE` if the transaction
   * failed or other processes held the file for too long.
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject, backoff: new Backoff(this.#options.maxWaitMs) });
      this.#schedule();
    }) as Promise<T>;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the callbacks of this turn, so that all they write is one group; sooner than any timer.
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const group = this.#waiting.splice(0, largestGroup);
    if (this.#waiting.length > 0) this.#schedule();
    this.#transact(group);
  }

  #transact(group: readonly Write[]): void {
    if (!this.#begun(group)) return;
    const { effects, confirmFile, onGroup } = this.#options;
    let settled: (() => void)[];
    let oneFailed = group.length > 1;
    try {
      settled = group.map(attempt);
      oneFailed = false;
      for (const effect of effects) effect.write();
      this.#commit.run();
      confirmFile?.();
    } catch (error) {
      this.#undo(group, error, oneFailed);
      return;
    }
    for (const settle of settled) settle();
    for (const effect of effects) effect.announce?.();
    onGroup?.(group.length);
  }

  #begun(group: readonly Write[]): boolean {
    try {
      this.#begin.run();
      return true;
    } catch (error) {
      if (isBusy(error)) this.#later(group);
      else this.#fail(group, error);
      return false;
    }
  }

  /** Nothing of the group is stored. If one write failed, each is tried again on its own, so that it fails alone. */
  #undo(group: readonly Write[], error: unknown, oneFailed: boolean): void {
    const { db, effects } = this.#options;
    for (const effect of effects) effect.forget();
    // A full disk or a failing one has rolled the transaction back already, and would do so again.
    const mediumFailed = !db.isTransaction;
    try {
      if (db.isTransaction) this.#rollback.run();
    } catch (worse) {
      this.#fail(group, worse);
      return;
    }
    if (oneFailed && !mediumFailed) for (const write of group) this.#transact([write]);
    else this.#fail(group, error);
  }

  #fail(group: readonly Write[], error: unknown): void {
    for (const { reject } of group) reject(unavailable(this.#options.name, error));
  }

  /** Another process holds the file. */
  #later(group: readonly Write[]): void {
    let refusal: StoreError | undefined;
    const patient = group.filter(({ backoff, reject }) => {
      if (!backoff.isOver) return true;
      refusal ??= held(this.#options.name);
      reject(refusal);
      return false;
    });
    if (patient.length === 0) return;
    this.#waiting.unshift(...patient);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setTimeout(() => this.#flush(), patient[0]!.backoff.nextMs());
  }
}

/** Returns what tells the writer the outcome once it is committed. Throws what is not a refusal. */
function attempt({ work, resolve, reject }: Write): () => void {
  try {
    const value = work();
    return () => resolve(value);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return () => reject(error);
  }
}
