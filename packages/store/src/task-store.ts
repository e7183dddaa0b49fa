import type { Fact, Head, Snapshot } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { Rate } from './bucket.ts';

/**
 * The agent, tenant and caller that tasks belong to, as one opaque string. Tasks of another scope do not exist for it.
 * Scopes, all other ids, queues, holders and `once` are 1 to 1,024 characters (`length` of the string, so up to 3,072
 * bytes of UTF-8) of well-formed Unicode without NUL. Several of them together are longer than the index of most
 * databases takes: an adapter may keep a digest.
 */
export type Scope = string;

/** A fact with its position in the log (1, 2, 3 …) and the commit that wrote it. */
export interface StoredFact {
  readonly version: number;
  readonly commitId: string;
  readonly fact: Fact;
}

/** The right to work on a task. It is lost when it is released or a larger fence is issued, and not by time alone. */
export interface Lease {
  readonly scope: Scope;
  readonly taskId: string;
  readonly queue: string;
  /** The token that holds it, made for one turn. */
  readonly holder: string;
  /** Grows with every lease of the task. */
  readonly fence: number;
  /** Why it was granted; `'held'`: the token had it already. A hint only: the turn decides on the folded log. */
  readonly cause: 'committed' | 'wanted' | 'expired' | 'due' | 'held';
}

/** New facts of one task, written all or none. */
export interface Commit {
  readonly scope: Scope;
  readonly taskId: string;
  /** Unique per commit and stored with its facts: a writer that lost the answer finds it in the log. */
  readonly commitId: string;
  /**
   * The length of the log these facts were decided on. `'open'` appends wherever the log ends, unless it is closed;
   * such a commit carries `once` and no `head`, `snapshot`, `acquire` or `release`. Its facts are kept with an `at`
   * that is not earlier than that of the fact before them; see `factsInOrder`.
   */
  readonly expectedVersion: number | 'open';
  /** May be empty only to `release`. */
  readonly facts: readonly Fact[];
  /** The head after these facts. Required whenever `expectedVersion` is a number and there are facts. */
  readonly head?: Head;
  /** Replaces the stored snapshot. */
  readonly snapshot?: Snapshot;
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
    /** Takes the lease in the same write if the task is free, and clears `want` then. `ttlMs` in milliseconds. */
    readonly acquire?: { readonly holder: string; readonly ttlMs: number };
    /** Gives the lease back; a late write under it is fenced. Without `want`, no turn is wanted afterwards. */
    readonly release?: boolean;
  };
}

/** Which turn may write to a task, for people who look into a store. It may have changed when the reader gets it. */
export interface LeaseReading {
  /** The largest fence ever issued for the task; 0 before the first. */
  readonly fence: number;
  /** The token of the turn that has the lease; absent while the task is free. */
  readonly holder?: string;
  /** Whether the task waits for a process that starts a turn. */
  readonly isWanted: boolean;
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

/** Which tasks of a scope a page lists. All conditions must hold. */
export interface TaskQuery {
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Only tasks whose status is this old or newer: ISO 8601, UTC, milliseconds. Inclusive. */
  readonly statusSince?: string;
  /** At most so many, 1 or more. */
  readonly limit: number;
  /** About how many bytes of facts a page may hold, after its first task. Unset: any number. */
  readonly bytes?: number;
  /** Where the previous page ended. */
  readonly after?: { readonly statusAt: string; readonly taskId: string };
  /** Include logs that were answered with a message and never became a task. */
  readonly answered?: boolean;
  /** The caller needs no larger `total` than this, so that the store may stop counting there. Unset: an exact one. */
  readonly totalAtMost?: number;
}

/** A task on a page. */
export interface ListedTask {
  readonly taskId: string;
  readonly head: Head;
  /** The fact at `head.statusVersion`; absent if it is damaged, so that the rest of the page can be read. */
  readonly fact?: StoredFact;
}

export interface TaskPage {
  /** Newest `statusAt` first, ties by task id (by code unit or by byte), both descending. */
  readonly tasks: readonly ListedTask[];
  /** How many match on all pages. With `totalAtMost`: as many, or any number from `totalAtMost` to as many. */
  readonly total: number;
  /** The page ended before `limit` because of `bytes`, and other tasks follow. */
  readonly isCut?: true;
}

/** What a subscriber is notified of. */
export type Topic =
  /** Facts were added to this task. */
  | { readonly scope: Scope; readonly taskId: string }
  /** A task of this queue wants a turn, or has something to deliver. */
  | { readonly queue: string };

/** Ends a subscription. Calling it again does nothing. */
export type Unsubscribe = () => void | Promise<void>;

/**
 * How many turns of a queue may run at once: tasks with a lease, in all processes. Unset: any number. A turn that runs
 * already is never ended by it.
 */
export interface TurnSchedule {
  /** Of all callers together. */
  readonly concurrency?: number;
  /** Of one scope. */
  readonly perCaller?: number;
  /** Of one context of a scope. */
  readonly perContext?: number;
}

/** Which leases are asked for, and by whom. */
export interface ClaimRequest {
  readonly queue: string;
  /** A token, new for every claim. A repeated claim with it gets the leases it has already, kept for `ttlMs` more. */
  readonly holder: string;
  /** How long the leases last, in milliseconds. */
  readonly ttlMs: number;
  readonly limit: number;
  /** Only tasks of this id, of any scope. */
  readonly taskId?: string;
  /** With `taskId`: only the task of this scope. Ignored without. */
  readonly scope?: Scope;
  /**
   * Whether the caller keeps the lease of this holder alive: the claim leaves it out though its time is up. A store in
   * another process cannot ask; the caller renews before it claims.
   */
  readonly isKept?: (holder: string) => boolean;
  /**
   * Gives out only as many tasks as may run at once, counted in the same step, also where claims race; and in order:
   * one task of each scope in turn, the scope that got none for the longest time first; within a scope the task that
   * has waited longest, by the time since it waits or is due, plus `aheadMs`. Leases that ran out are given out in any
   * case: their turns are counted already. Without effect with `taskId`. Only at stores with `schedules`.
   */
  readonly schedule?: TurnSchedule;
}

/**
 * Keeps tasks: an append-only log per task, with a small head to list and schedule by. A store keeps facts as JSON and
 * never looks inside one. Its callers cannot change what it keeps. Every method may also reject with a `StoreError` of
 * code `UNAVAILABLE`: a write may then have happened or not, and `commitId` in the log tells.
 */
export interface TaskStore {
  /**
   * Writes all of the commit or none of it; it is durable when the promise resolves. Rejects with a `StoreError` of
   * code `VERSION_CONFLICT`, `LOG_CLOSED` or `FENCED` if the log is longer, is closed, or another token holds the
   * task; see `admit`. A `once` that was used before is found before any of these.
   */
  commit(commit: Commit): Promise<Committed>;

  /** The log of a task in one consistent read, or undefined. Rejects with code `UNREADABLE` if it is damaged. */
  load(scope: Scope, taskId: string): Promise<StoredLog | undefined>;

  /**
   * Up to `limit` facts after position `after`, contiguous. Empty at the end of the log and for an unknown task.
   * Rejects with code `LOG_GAP` if facts right after `after` were pruned, and with `UNREADABLE` if one is damaged.
   * `lastCommitId` is the `commitId` that the reader knows at `after` (1 or more): rejects with code `LOG_DIVERGED` if
   * the log does not hold that commit there, because the log became shorter, became another one, or is gone.
   */
  readFacts(
    scope: Scope,
    taskId: string,
    after: number,
    limit: number,
    lastCommitId?: string,
  ): Promise<readonly StoredFact[]>;

  /** One page of the scope's tasks, in the order that `TaskPage` says. */
  list(scope: Scope, query: TaskQuery): Promise<TaskPage>;

  /**
   * Calls `notify` after each change; for a task with the length of its log, if the store knows it. There may be too
   * many notifications, and some may be lost: a subscriber also reads the store from time to time. An error that
   * `notify` throws rejects no commit; see `callSubscriber`.
   */
  subscribe(topic: Topic, notify: (version?: number) => void): Promise<Unsubscribe>;

  /**
   * Grants leases on open tasks of a queue that are held by no live lease and want a turn, were abandoned, or are due.
   * Leases that the holder has already come first, then the tasks that could have been claimed longest: since they
   * wanted the turn, since the lease ran out, since they are due. A store that keeps tasks in parts keeps to that order
   * in each part, and begins with another part each time: no task waits for ever while newer ones are given out.
   *
   * Leases run out by the store's clock, which is the same for all processes that share it and is never set (that of
   * the database, where it is on another machine). `dueAt` is compared with the store's wall clock.
   */
  claim(request: ClaimRequest): Promise<readonly Lease[]>;

  /** Whether claims follow a `schedule`, and commits an order (`aheadMs`). */
  readonly schedules?: boolean;

  /**
   * Keeps leases for `ttlMs` milliseconds from now. Resolves to those that are still held, as they were given and in
   * the same order: a lease that was given twice is there twice, or not at all.
   */
  renew(leases: readonly Lease[], ttlMs: number): Promise<readonly Lease[]>;

  /**
   * How many open tasks of a queue wait for a turn. With `atMost`, the store may stop counting there, and may return a
   * count of up to a second ago if the queue cannot have reached `atMost` since.
   */
  waiting(queue: string, atMost?: number): Promise<number>;

  /**
   * Deletes up to `limit` closed logs whose `statusAt` is before `closedBefore` and that have nothing undelivered,
   * with everything that belongs to them. Resolves to the number deleted.
   */
  prune(options: { readonly closedBefore: string; readonly limit: number }): Promise<number>;

  /** The lease of a task, or undefined for an unknown one. A store that cannot tell leaves it out. */
  lease?(scope: Scope, taskId: string): Promise<LeaseReading | undefined>;

  /**
   * Takes one from a bucket that all processes share, by the store's clock; see `takenFrom`. Resolves to 0, or to the
   * milliseconds until there is one. The name of a bucket is as long as an id may be; a full bucket takes no room. After
   * `UNAVAILABLE`, one may have been taken. A store that cannot do so in one step leaves it out.
   */
  take?(bucket: string, rate: Rate): Promise<number>;

  /**
   * Checks that commits can be stored now, by writing something small that no reader sees. Rejects as a commit would;
   * `trouble` of the `StoreError` says why. A store whose writes fail only when its reads do leaves it out.
   */
  probe?(): Promise<void>;

  /** Checks that the store answers, by a read that costs the same however many tasks it keeps. */
  ping(): Promise<void>;

  /**
   * The id of this store's data, 1 to 200 characters: the same in every process and after a restart, another one once
   * the data was emptied or replaced. Rejects with code `UNUSABLE` if this store cannot be used any more because its
   * data was replaced.
   */
  identity(): Promise<string>;

  /**
   * Finishes the calls that are under way, then closes what the store opened: connections, files, timers. A database
   * or pool that was passed in stays open and is its owner's; its settings and its listeners are as they were. Calling
   * it again does nothing more.
   */
  close(): Promise<void>;
}
