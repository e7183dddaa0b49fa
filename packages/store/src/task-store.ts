import type { Fact, Head, Snapshot } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';

/**
 * Whose tasks these are: agent, tenant and caller in one opaque string. What lies in another scope does not exist.
 * Scopes and every other id a store is given are 1 to 1,024 characters of well-formed Unicode without NUL.
 */
export type Scope = string;

/** A fact as it is kept, with its position in the log (1, 2, 3 …) and the commit that wrote it. */
export interface StoredFact {
  readonly version: number;
  readonly commitId: string;
  readonly fact: Fact;
}

/** The right to work on a task. Lost when a larger fence was issued or it was released, not merely by time. */
export interface Lease {
  readonly scope: Scope;
  readonly taskId: string;
  readonly queue: string;
  /** Who holds it: a token made for one turn. */
  readonly holder: string;
  /** Grows with every lease of the task. */
  readonly fence: number;
  /** Why it was given out; `'held'` to a token that has it already. A hint: what to do is decided on the folded log. */
  readonly cause: 'committed' | 'wanted' | 'expired' | 'due' | 'held';
}

/** New facts of one task, written as one unit. */
export interface Commit {
  readonly scope: Scope;
  readonly taskId: string;
  /** Unique per commit and stored with its facts, so that a writer who lost the answer can find out. */
  readonly commitId: string;
  /**
   * The length of the log these facts were decided on. `'open'` appends wherever the log ends, unless it is closed;
   * such a commit carries `once` and no `head`, `snapshot`, `acquire` or `release`. Its facts are kept with an `at` that
   * is not earlier than that of the fact before them; see `factsInOrder`.
   */
  readonly expectedVersion: number | 'open';
  /** May be empty only to `release`. */
  readonly facts: readonly Fact[];
  /** The head after these facts. Required whenever `expectedVersion` is a number and there are facts. */
  readonly head?: Head;
  /** Replaces the stored snapshot. */
  readonly snapshot?: Snapshot;
  /** A key under which only the first commit of a task counts: `message:<id>`, `cancel`. */
  readonly once?: string;
  /** Who writes on behalf of a turn. Compared with the lease, fence and holder both. */
  readonly writer?: { readonly fence: number; readonly holder: string };
  readonly turn?: {
    /** Where work on this task is claimed from. */
    readonly queue: string;
    /** The task needs a turn that nobody runs yet. */
    readonly want?: boolean;
    /**
     * With `want`: rejects with `QUEUE_FULL` if so many tasks of the queue want a turn that nobody runs. A store that cannot
     * count all of them in the same step counts those it can: whoever asks looks at `waiting` before.
     */
    readonly waitingAtMost?: number;
    /** Takes the lease in the same write, if nobody holds it. Clears `want` if it does. `ttlMs` in milliseconds. */
    readonly acquire?: { readonly holder: string; readonly ttlMs: number };
    /** Gives the lease back; a late write under it is fenced. Without `want`, nothing is wanted afterwards. */
    readonly release?: boolean;
  };
}

export interface Committed {
  /** Position of the last fact; for a repeated `once`, of the first fact of the commit that counted. */
  readonly version: number;
  /** The commit's `once` was used before; nothing was written. */
  readonly repeated?: boolean;
  /** Present if `acquire` was asked for and granted. */
  readonly lease?: Lease;
}

/** What is known of a task in one consistent read: fold `facts` onto `snapshot` (or onto nothing). */
export interface StoredLog {
  readonly head: Head;
  /** The length of the log. */
  readonly version: number;
  readonly snapshot?: Snapshot;
  /** All facts after the snapshot, or all facts. */
  readonly facts: readonly StoredFact[];
}

export interface TaskQuery {
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Only tasks whose status is this old or newer: ISO 8601, UTC, milliseconds. Inclusive. */
  readonly statusSince?: string;
  /** At most so many, 1 or more. */
  readonly limit: number;
  /** About how many bytes of facts a page may hold. It ends early then, but not before its first task. Unset: any. */
  readonly bytes?: number;
  /** Where the previous page ended. */
  readonly after?: { readonly statusAt: string; readonly taskId: string };
  /** Also logs that never became a task. */
  readonly answered?: boolean;
}

export interface ListedTask {
  readonly taskId: string;
  readonly head: Head;
  /** The fact at `head.statusVersion`; absent if it is damaged, so that it does not take the page with it. */
  readonly fact?: StoredFact;
}

export interface TaskPage {
  /** Newest `statusAt` first, ties by task id (by code unit or by byte), both descending. */
  readonly tasks: readonly ListedTask[];
  /** How many match on all pages. */
  readonly total: number;
  /** The page ended before `limit` because of `bytes`, and other tasks follow. */
  readonly isCut?: true;
}

/** What rings when something changes. */
export type Topic =
  /** Facts were added to this task. */
  | { readonly scope: Scope; readonly taskId: string }
  /** A task of this queue wants a turn, or has something to deliver. */
  | { readonly queue: string };

export type Unsubscribe = () => void | Promise<void>;

export interface ClaimRequest {
  readonly queue: string;
  /** Fresh for every claim; a repeated claim with the same token gets the leases it already has, kept for `ttlMs` more. */
  readonly holder: string;
  readonly ttlMs: number;
  readonly limit: number;
  /** Only this task (whatever its scope). */
  readonly taskId?: string;
  /**
   * Whether the lease of this holder is not given out though its time is up: the caller keeps it alive. A store in
   * another process than the caller cannot ask; the caller renews before it claims.
   */
  readonly isKept?: (holder: string) => boolean;
}

/**
 * Where tasks live: an append-only log per task with a small head to list and schedule by. A store keeps facts (as JSON
 * says them) and never looks inside one; it shares nothing with its callers that they could change. Every method may also reject with an error whose `code` is `'UNAVAILABLE'`: nobody knows then
 * whether a write happened, and `commitId` tells.
 */
export interface TaskStore {
  /**
   * All or nothing, durable when it resolves. Rejects with a `StoreError` of code `VERSION_CONFLICT`, `LOG_CLOSED` or
   * `FENCED` if the log moved on, is closed, or belongs to another holder; see `admit`. A `once` that counted before
   * answers ahead of all of them.
   */
  commit(commit: Commit): Promise<Committed>;

  /** The log of a task in one consistent read, or undefined. Rejects with code `UNREADABLE` if it is damaged. */
  load(scope: Scope, taskId: string): Promise<StoredLog | undefined>;

  /**
   * Up to `limit` facts after position `after`, contiguous. Empty at the end of the log and for an unknown task. Rejects
   * with code `LOG_GAP` if facts right after `after` were pruned, and with `UNREADABLE` if one is damaged. `lastCommitId`
   * is the `commitId` that the reader knows at `after` (1 or more): rejects with code `LOG_DIVERGED` if the log does not
   * hold that commit there, because the log became shorter, became another one, or is gone.
   */
  readFacts(
    scope: Scope,
    taskId: string,
    after: number,
    limit: number,
    lastCommitId?: string,
  ): Promise<readonly StoredFact[]>;

  /** One page of the scope's tasks. */
  list(scope: Scope, query: TaskQuery): Promise<TaskPage>;

  /**
   * Calls `notify` after each change, for a task with the length of its log if the store knows it. May ring too often and
   * may miss some: whoever watches also looks now and then.
   */
  subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe>;

  /** Leases on open tasks of a queue without a live lease that are wanted, were left by a dead holder, or are due. */
  claim(request: ClaimRequest): Promise<readonly Lease[]>;

  /** Keeps leases for `ttlMs` more milliseconds. Resolves to those that are still held. */
  renew(leases: readonly Lease[], ttlMs: number): Promise<readonly Lease[]>;

  /** How many open tasks of a queue want a turn that nobody runs. */
  waiting(queue: string): Promise<number>;

  /**
   * Deletes up to `limit` closed logs whose `statusAt` is before `closedBefore` and that have nothing undelivered, with
   * all that belongs to them. Resolves to how many it deleted.
   */
  prune(options: { readonly closedBefore: string; readonly limit: number }): Promise<number>;

  /**
   * Finds out whether commits are stored now: writes something small that no reader sees. Rejects with what a commit would
   * reject with; `trouble` of the `StoreError` says why. A store whose writes fail only when its reads do leaves it out.
   */
  probe?(): Promise<void>;

  /**
   * Tells this store's data from all other data: the same text in every process on it and after a restart, another one
   * once the data was emptied or replaced. 1 to 200 characters. Rejects with code `UNUSABLE` if this store can no longer
   * be used because its data was replaced.
   */
  identity(): Promise<string>;

  /** Lets go of connections and files; what is under way is finished first. */
  close(): Promise<void>;
}
