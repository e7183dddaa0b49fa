import type { Fact, Head, Snapshot } from '@batonjs/lifecycle';
import { CodedError } from '@batonjs/protocol/errors';
import type { Lease, Scope } from './lease.ts';

/** A fact with its position in the log (1, 2, 3 …) and the commit that wrote it. */
export interface StoredFact {
  readonly version: number;
  readonly commitId: string;
  readonly fact: Fact;
}

/** New facts of one task, written all or none. */
export interface Commit {
  readonly scope: Scope;
  readonly taskId: string;
  /** Unique per commit and stored with its facts: a writer that lost the answer finds it in the log. */
  readonly commitId: string;
  /**
   * The length of the log these facts were decided on. `'open'` appends wherever the log ends, unless it is closed;
   * such a commit carries `once` and no `head`, `snapshot`, `text`, `origin`, `acquire` or `release`. Its facts are kept with an `at`
   * that is not earlier than that of the fact before them; see `factsInOrder`.
   */
  readonly expectedVersion: number | 'open';
  /** May be empty only to `release`. */
  readonly facts: readonly Fact[];
  /** The head after these facts. Required whenever `expectedVersion` is a number and there are facts. */
  readonly head?: Head;
  /** Replaces the stored snapshot. */
  readonly snapshot?: Snapshot;
  /** What the task is found by in searches by text, at stores that have them. Only in the first commit of a log. */
  readonly text?: string;
  /**
   * Another task of the scope, of which the facts were taken: rejects with `LOG_DELETED` if the store does not have it any
   * more. Only in the first commit of a log.
   */
  readonly origin?: string;
  /**
   * Rejects with `LOG_DELETED` if a log of this name was deleted in the last 24 hours, as long as this is remembered: its
   * messages count once. Only in the first commit of a log.
   */
  readonly unlessDeleted?: boolean;
  /** A key under which only the first commit of a task counts: `message:<id>`, `cancel`. As long as an id may be. */
  readonly once?: string;
  /** The lease that a turn writes under. Both fence and holder must be those of the task. */
  readonly writer?: { readonly fence: number; readonly holder: string };
  readonly turn?: {
    /** The queue that this task is claimed from. */
    readonly queue: string;
    /** The task wants a turn. */
    readonly want?: boolean;
    /**
     * With `want`: rejects with `QUEUE_FULL` if so many tasks of the queue are waiting for a turn. A store that cannot
     * count all of them in the same step counts those it can; the caller asks `waiting` before.
     */
    readonly waitingAtMost?: number;
    /**
     * The task is given out in the order of a schedule, from now on: as if it had waited so many milliseconds longer
     * than it has, 0 or more. While it waits it becomes more urgent by this, and never less. Only at stores with
     * `schedules`.
     */
    readonly aheadMs?: number;
    /**
     * The turn that runs from now on is pinned to this version: only claims that name it get the task, until the turn is
     * given back without it. `null`: to none from now on.
     */
    readonly version?: string | null;
    /** Takes the lease in the same write if the task is free, and clears `want` then. `ttlMs` in milliseconds. */
    readonly acquire?: { readonly holder: string; readonly ttlMs: number };
    /** Gives the lease back; a late write under it is fenced. Without `want`, no turn is wanted afterwards. */
    readonly release?: boolean;
  };
}

/** The result of a commit. */
export interface Committed {
  /** Position of the last fact; for a repeated `once`, of the first fact of the commit that counted. */
  readonly version: number;
  /** The commit's `once` was used before; nothing was written. */
  readonly repeated?: boolean;
  /** Present if `acquire` was asked for and granted. */
  readonly lease?: Lease;
}

/** A task in one consistent read. Its state is `facts` folded onto `snapshot`, or onto nothing. */
export interface StoredLog {
  readonly head: Head;
  /** The length of the log. */
  readonly version: number;
  readonly snapshot?: Snapshot;
  /** All facts after the snapshot, or all facts. */
  readonly facts: readonly StoredFact[];
}

/** Why a store refused a call. After `UNAVAILABLE` a write may have happened; after the others it has not. */
export type StoreErrorCode =
  /** The log does not have the length that the writer expected. */
  | 'VERSION_CONFLICT'
  /** The log is closed. */
  | 'LOG_CLOSED'
  /** The writer does not hold the lease of the task, or has lost it. */
  | 'FENCED'
  /** The facts asked for were pruned. */
  | 'LOG_GAP'
  /** Stored data is damaged and cannot be read. */
  | 'UNREADABLE'
  /** The queue has as many waiting tasks as the commit allows. */
  | 'QUEUE_FULL'
  /** The log does not hold the commit that the reader knows at a position: facts were lost. */
  | 'LOG_DIVERGED'
  /** The log that the reader knows was deleted, by `erase` or `prune`. */
  | 'LOG_DELETED'
  /** The commit contradicts itself: an error of the caller. */
  | 'INVALID_COMMIT'
  /** The name or the value of a record cannot be kept: an error of the caller. */
  | 'INVALID_RECORD'
  /** The store cannot be reached, did not answer in time, or failed. */
  | 'UNAVAILABLE'
  /** The store cannot be used as it is configured, or was written by another release. */
  | 'UNUSABLE';

/** The reason why a store cannot write, if it knows. */
export type StoreTrouble =
  /** The disk is full. */
  | 'disk-full'
  /** The memory of the database is full. */
  | 'out-of-memory'
  /** The file, its disk or the server takes no writes. */
  | 'read-only'
  /** The database is configured as a cache, and may delete tasks to free memory. */
  | 'may-evict'
  /** Another process holds the lock that writers need. */
  | 'locked';

/** The error that stores reject with. Recognise it with `StoreError.is`; it never crosses the wire. */
export class StoreError extends CodedError<StoreErrorCode> {
  static override readonly title = 'StoreError';
  readonly trouble: StoreTrouble | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    { trouble, cause }: ErrorOptions & { trouble?: StoreTrouble | undefined } = {},
  ) {
    super(code, message, cause);
    this.trouble = trouble;
  }
}

/** The error that `readFacts` rejects with if the log does not hold the commit that the reader knows at a position. */
export const diverged = (taskId: string, position: number): StoreError =>
  new StoreError('LOG_DIVERGED', `The log of task ${taskId} does not hold what it held at ${position}`);
