import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { Group, type Grouped } from '@batonjs/store/adapter';
import type { TransactionHook } from '../sql/database.ts';
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

type Write = Grouped<{ readonly work: () => unknown; readonly backoff: Backoff }>;

/** The most writes of a transaction: more would block the event loop for too long. */
const largestGroup = 256;

/**
 * Writes that arrive in one round of the event loop share one transaction, and one `fsync`. A write that is refused fails
 * alone; a failing disk fails them all. A transaction runs without interruption: no other code of this process runs in between.
 */
export function groupCommit(options: GroupCommitOptions) {
  const group = new Group<Write['item']>({
    most: largestGroup,
    run: (group) => (options.isUnsynced ? transactUnsynced(group) : transact(group)),
    isOfOne: (error) => error instanceof OfOne,
  });
  const begin = options.db.prepare('BEGIN IMMEDIATE');
  const commit = options.db.prepare('COMMIT');
  const rollback = options.db.prepare('ROLLBACK');

  function transactUnsynced(group: readonly Write[]): Left {
    const { db } = options;
    const usual = db.prepare('PRAGMA synchronous').get()?.synchronous;
    db.exec('PRAGMA synchronous = NORMAL');
    try {
      return transact(group);
    } finally {
      db.exec(`PRAGMA synchronous = ${usual}`);
    }
  }

  function transact(group: readonly Write[]): Left {
    const { name, hooks, confirmFile, onGroup } = options;
    try {
      begin.run();
    } catch (error) {
      if (isBusy(error)) return later(group);
      throw unavailable(name, error);
    }
    let settled: (() => void)[];
    let oneFailed = group.length > 1;
    try {
      for (const hook of hooks) hook.afterBegin?.();
      settled = group.map(attempt);
      oneFailed = false;
      for (const hook of hooks) hook.beforeCommit?.();
      commit.run();
      confirmFile?.();
    } catch (error) {
      throw undone(error, oneFailed);
    }
    for (const settle of settled) settle();
    for (const hook of hooks) hook.afterCommit?.();
    onGroup?.(group.length);
    return undefined;
  }

  /** Nothing of the group is stored. Returns the error that says why. */
  function undone(error: unknown, oneFailed: boolean): unknown {
    const { db, hooks, name } = options;
    for (const hook of hooks) hook.afterRollback?.();
    // A full disk or a failing one has rolled the transaction back already, and would do so again.
    if (!db.isTransaction) return unavailable(name, error);
    try {
      rollback.run();
    } catch (worse) {
      return unavailable(name, worse);
    }
    return oneFailed ? new OfOne() : unavailable(name, error);
  }

  /** Another process holds the file. */
  async function later(group: readonly Write[]): Promise<readonly Write[]> {
    for (const { item, reject } of group) if (item.backoff.isOver) reject(held(options.name));
    const left = group.filter(({ isSettled }) => !isSettled());
    const ms = left[0]?.item.backoff.nextMs() ?? 0;
    await new Promise((resolve) => setTimeout(resolve, ms));
    return left;
  }

  return {
    /**
     * Runs a write in the next transaction. Resolves to its result once the transaction is committed. A write
     * refuses by throwing a `StoreError` before it changes anything. Rejects with code `UNAVAILABLE` if the transaction
     * failed or other processes held the file for too long.
     */
    run: <T>(work: () => T): Promise<T> =>
      group.run({ work, backoff: new Backoff(options.maxWaitMs) }) as Promise<T>,
  };
}

/** What a group comes to: those that another process kept from the file. */
type Left = Promise<readonly Write[]> | undefined;

/** One write of a group failed, in a way that is none of its refusals. */
class OfOne extends Error {}

/** Returns the function that settles the writer's promise after the commit. Throws errors that are not refusals. */
function attempt({ item, resolve, reject }: Write): () => void {
  try {
    const value = item.work();
    return () => resolve(value);
  } catch (error) {
    if (!StoreError.is(error)) throw error;
    return () => reject(error);
  }
}

/**
 * Runs work in transactions of its own, each at once: it sees one state of the database. `begin`: one that writes takes the
 * lock at once. Rejects with code `UNAVAILABLE`, and says why, if the file fails, and with whatever `work` throws.
 */
export function ownTransactions(
  { db, name, maxWaitMs }: Pick<GroupCommitOptions, 'db' | 'name' | 'maxWaitMs'>,
  begin: 'BEGIN' | 'BEGIN IMMEDIATE',
): <T>(work: () => T) => Promise<T> {
  const [start, commit, rollback] = [db.prepare(begin), db.prepare('COMMIT'), db.prepare('ROLLBACK')];

  function once<T>(work: () => T): T {
    start.run();
    try {
      const result = work();
      commit.run();
      return result;
    } finally {
      if (db.isTransaction) rollback.run();
    }
  }

  return async (work) => {
    const backoff = new Backoff(maxWaitMs);
    for (;;) {
      try {
        return once(work);
      } catch (error) {
        if (!isBusy(error)) throw unavailable(name, error);
        if (backoff.isOver) throw held(name);
      }
      await new Promise((resolve) => setTimeout(resolve, backoff.nextMs()));
    }
  };
}

const longestMs = 40;

/** The waits between the attempts of a call that finds the file locked by another process. */
export class Backoff {
  readonly #end: number;
  #attempts = 0;

  constructor(maxWaitMs: number) {
    this.#end = performance.now() + maxWaitMs;
  }

  /** Whether the time is over and the call gives up. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Milliseconds until the next attempt: longer each time, and random, so that processes do not collide again. */
  nextMs(): number {
    const ms = Math.min(longestMs, 2 ** this.#attempts++);
    return ms / 2 + Math.random() * (ms / 2);
  }
}
