import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import type { TransactionHook } from '../sql/transactions.ts';
import { Backoff } from './backoff.ts';
import { held, isBusy, unavailable } from './sqlite-error.ts';

export interface GroupCommitOptions {
  readonly db: DatabaseSync;
  /** The name of the database in errors. */
  readonly name: string;
  /** How long a write waits for another process's lock on the file, in milliseconds. */
  readonly maxWaitMs: number;
  readonly hooks: readonly TransactionHook[];
  /** The disk is not waited for: a power failure may undo these transactions, and a killed process does not. */
  readonly isUnsynced?: boolean;
  /** Called after each commit, before its writes resolve. If it throws, they all reject with its error. */
  readonly confirmFile?: () => void;
  /** Called with the number of writes of each committed transaction. */
  readonly onGroup?: (size: number) => void;
}

interface Write {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly backoff: Backoff;
}

/** The most writes of a transaction: more would block the event loop for too long. */
const largestGroup = 256;

/**
 * Writes that arrive in one round of the event loop share one transaction, and one `fsync`. A write that is refused
 * fails alone; a failing disk fails them all. A transaction runs without interruption: no other code of this
 * process runs in between.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  #waiting: Write[] = [];
  #isFlushPending = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#begin = options.db.prepare('BEGIN IMMEDIATE');
    this.#commit = options.db.prepare('COMMIT');
    this.#rollback = options.db.prepare('ROLLBACK');
  }

  /**
   * Runs a write in the next transaction. Resolves to its result once the transaction is committed. A write
   * refuses by throwing a `StoreError` before it changes anything. Rejects with code `UNAVAILABLE` if the transaction
   * failed or other processes held the file for too long.
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject, backoff: new Backoff(this.#options.maxWaitMs) });
      this.#flushSoon();
    }) as Promise<T>;
  }

  #flushSoon(): void {
    if (this.#isFlushPending) return;
    this.#isFlushPending = true;
    // After all callbacks of this turn, so that their writes form one group, and before any timer.
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushPending = false;
    const group = this.#waiting.splice(0, largestGroup);
    if (this.#waiting.length > 0) this.#flushSoon();
    if (this.#options.isUnsynced) this.#transactUnsynced(group);
    else this.#transact(group);
  }

  #transactUnsynced(group: readonly Write[]): void {
    const { db } = this.#options;
    const usual = db.prepare('PRAGMA synchronous').get()?.synchronous;
    db.exec('PRAGMA synchronous = NORMAL');
    try {
      this.#transact(group);
    } finally {
      db.exec(`PRAGMA synchronous = ${usual}`);
    }
  }

  #transact(group: readonly Write[]): void {
    if (!this.#begun(group)) return;
    const { hooks, confirmFile, onGroup } = this.#options;
    let settled: (() => void)[];
    let oneFailed = group.length > 1;
    try {
      for (const hook of hooks) hook.afterBegin?.();
      settled = group.map(attempt);
      oneFailed = false;
      for (const hook of hooks) hook.beforeCommit?.();
      this.#commit.run();
      confirmFile?.();
    } catch (error) {
      this.#undo(group, error, oneFailed);
      return;
    }
    for (const settle of settled) settle();
    for (const hook of hooks) hook.afterCommit?.();
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
    const { db, hooks } = this.#options;
    for (const hook of hooks) hook.afterRollback?.();
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
    const unfinished = group.filter(({ backoff, reject }) => {
      if (!backoff.isOver) return true;
      refusal ??= held(this.#options.name);
      reject(refusal);
      return false;
    });
    const [first] = unfinished;
    if (!first) return;
    this.#waiting.unshift(...unfinished);
    if (this.#isFlushPending) return;
    this.#isFlushPending = true;
    setTimeout(() => this.#flush(), first.backoff.nextMs());
  }
}

/** Returns the function that settles the writer's promise after the commit. Throws errors that are not refusals. */
function attempt({ work, resolve, reject }: Write): () => void {
  try {
    const value = work();
    return () => resolve(value);
  } catch (error) {
    if (!StoreError.is(error)) throw error;
    return () => reject(error);
  }
}
