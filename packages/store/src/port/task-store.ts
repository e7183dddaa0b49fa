import type { Head } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { Commit, Committed, StoredFact, StoredLog } from './commit.ts';
import type { ClaimRequest, Lease, LeaseReading, Scope, TaskName } from './lease.ts';
import type { RecordStore } from './record-store.ts';
import type { Answer, QueueReading, Transfer } from './rows.ts';

/** How a bucket fills: it holds `burst` (a whole number, 1 or more), and gets one every `everyMs` (more than 0). */
export interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

/** Which tasks of a scope are listed. All conditions must hold. `rules/list.ts` says what each means. */
export interface TaskFilter {
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Only tasks whose status is this old or newer: ISO 8601, UTC, milliseconds. Inclusive. */
  readonly statusSince?: string;
  /** Include logs that were answered with a message and never became a task. */
  readonly answered?: boolean;
  /** Only tasks with all of these labels. */
  readonly labels?: readonly string[];
  /** Only tasks one of whose messages named the skill with this id. */
  readonly skill?: string;
  /** Only tasks that failed with this code. */
  readonly code?: string;
  /**
   * Only tasks whose first message has words that begin with all words of this, whatever their case and accents; see
   * `wordsOf`. Only at stores with `searchesText`: others refuse the list.
   */
  readonly text?: string;
}

/** Which part of the tasks that are listed a page shows. */
export interface TaskQuery extends TaskFilter {
  /** At most so many, 1 or more. */
  readonly limit: number;
  /** About how many bytes of facts a page may hold, after its first task. Unset: any number. */
  readonly bytes?: number;
  /** Where the previous page ended. */
  readonly after?: { readonly statusAt: string; readonly taskId: string };
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

/** A topic whose subscribers are notified once a change is stored. `version`: the new length of a task's log. */
export type Notification = Topic & { readonly version?: number };

/** What was deleted of one task. */
export interface Erased {
  readonly facts: number;
  readonly webhooks: number;
}

/** Ends a subscription. Calling it again does nothing. */
export type Unsubscribe = () => void | Promise<void>;

/**
 * Keeps tasks: an append-only log per task, with a small head to list and schedule by. A store keeps facts as JSON and
 * never looks inside one. Its callers cannot change what it keeps. Every method may also reject with a `StoreError` of
 * code `UNAVAILABLE`: a write may then have happened or not, and `commitId` in the log tells.
 */
export interface TaskStore extends RecordStore {
  /**
   * Writes all of the commit or none of it; it is durable when it is answered, which a store that waits for nothing does
   * without a promise. Rejects, and never throws, with a `StoreError` of code `VERSION_CONFLICT`, `LOG_CLOSED` or
   * `FENCED` if the log is longer, is closed, or another token holds the task; see `admit`. A `once` that was used
   * before is found before any of these.
   */
  commit(commit: Commit): Answer<Committed>;

  /** The log of a task in one consistent read, or undefined. Rejects with code `UNREADABLE` if it is damaged. */
  load(scope: Scope, taskId: string): Promise<StoredLog | undefined>;

  /**
   * Up to `limit` facts after position `after`, contiguous. Empty at the end of the log and for an unknown task.
   * Rejects with code `LOG_GAP` if facts right after `after` were pruned, and with `UNREADABLE` if one is damaged.
   * `lastCommitId` is the `commitId` that the reader knows at `after` (1 or more). If the log does not hold it there, this
   * rejects: with code `LOG_DELETED` after an `erase` or a `prune` of the last hour, otherwise with `LOG_DIVERGED`.
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
   * Whether tasks can be listed by `text`. A store that resolves false, or leaves it out, rejects such a list with
   * `UNUSABLE`. Of more than 10,000 tasks with the words, a store may find those only that began last.
   */
  searchesText?(): Promise<boolean>;

  /**
   * Calls `notify` after each change; for a task with the length of its log, if the store knows it. There may be too
   * many notifications, and some may be lost: a subscriber also reads the store from time to time. An error that
   * `notify` throws rejects no commit; see `callSubscriber`. Rejects, and never throws.
   */
  subscribe(topic: Topic, notify: (version?: number) => void): Answer<Unsubscribe>;

  /**
   * Grants leases on open tasks of a queue that are held by no live lease and want a turn, were abandoned, or are due.
   * Leases that the holder has already come first, then the tasks that could have been claimed longest: since they
   * wanted the turn, since the lease ran out, since they are due. A store that keeps tasks in parts keeps to that order
   * in each part, and begins with another part each time: no task waits forever while newer ones are given out.
   *
   * Leases run out by the store's clock, which is the same for all processes that share it and is never set (that of
   * the database, where it is on another machine). `dueAt` is compared with the store's wall clock.
   */
  claim(request: ClaimRequest): Promise<readonly Lease[]>;

  /** The database, as OpenTelemetry names it in `db.system.name`, such as `postgresql`; for metrics. */
  readonly system?: string;

  /** Whether no other process can have these tasks: they lie in the memory of this one, or in an object of its own. */
  readonly isPrivate?: boolean;

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

  /** How much lies in a queue, for gauges. A store that counts nothing else leaves it out, and is asked `waiting`. */
  measure?(queue: string): Promise<QueueReading>;

  /**
   * Deletes up to `limit` closed logs whose `statusAt`, plus the `keepMs` of the head, is before `closedBefore` and that
   * have nothing undelivered, with everything that belongs to them. Resolves to the number deleted.
   * Deletions are remembered for `Commit.unlessDeleted`, by records under `deletionsOf` their scope.
   */
  prune(options: { readonly closedBefore: string; readonly limit: number }): Promise<number>;

  /**
   * Deletes a closed log with everything that belongs to it, its webhooks too, delivered or not. Resolves to what was
   * deleted; `'open'`, deleting nothing, if the log is not closed; undefined if there is none.
   */
  erase?(scope: Scope, taskId: string): Promise<Erased | 'open' | undefined>;

  /** Forgets the last turn of a caller in the order of a queue, as if it had none; see `ClaimRequest.schedule`. */
  forgetTurns?(queue: string, scope: Scope): Promise<void>;

  /** The lease of a task, or undefined for an unknown one. A store that cannot tell leaves it out. */
  lease?(scope: Scope, taskId: string): Promise<LeaseReading | undefined>;

  /**
   * Up to `limit` tasks of a queue that a claim with this version could get now, and no claim without it. While a process
   * of the version runs, they are few and soon gone.
   */
  pinned?(queue: string, version: string, limit: number): Promise<readonly TaskName[]>;

  /** Lets claims without a version have up to `limit` of them. Resolves to how many. */
  unpin?(queue: string, version: string, limit: number): Promise<number>;

  /**
   * Takes one from a bucket that all processes share, by the store's clock; see `takenFrom`. Resolves to 0, or to the
   * milliseconds until there is one. The name of a bucket is as long as an id may be; a full bucket takes no room. After
   * `UNAVAILABLE`, one may have been taken. A store that cannot do so in one step leaves it out.
   */
  take?(bucket: string, rate: Rate): Promise<number>;

  /** Moves all of the store into another one. A store that cannot leaves it out. */
  readonly transfer?: Transfer;

  /**
   * Checks that commits can be stored now, by writing something small that no reader sees. Rejects as a commit would;
   * `trouble` of the `StoreError` says why. A store whose writes fail only when its reads do leaves it out.
   */
  probe?(): Promise<void>;

  /** Checks that the store answers, by a read that costs the same however many tasks it keeps. */
  ping(): Promise<void>;

  /**
   * The id of this store's data, 1 to 200 characters: the same in every process and after a restart, another one once the data
   * was emptied or replaced. Rejects with code `UNUSABLE` if this store cannot be used any more because its data was replaced.
   */
  identity(): Promise<string>;

  /**
   * Finishes the calls that are under way, then closes what the store opened: connections, files, timers. A database
   * or pool that was passed in stays open and is its owner's; its settings and its listeners are as they were. Calling
   * it again does nothing more.
   */
  close(): Promise<void>;
}

/**
 * The number of a topic, 32 bits, under which processes tell each other of changes. Two topics may have the same number:
 * their subscribers are then notified too often, which the port allows.
 */
export function topicNumber(topic: Topic): number {
  const number =
    'queue' in topic
      ? hashed(queueStart, topic.queue)
      : hashed(Math.imul(hashed(taskStart, topic.taskId) ^ space, prime), topic.scope);
  return number >>> 0;
}

const prime = 0x01000193;
const space = 0x20;

/** FNV-1a, continued with a text. The parts of a name are not joined first: that would make a text for each commit. */
function hashed(start: number, text: string): number {
  let number = start;
  for (let index = 0; index < text.length; index++)
    number = Math.imul(number ^ text.charCodeAt(index), prime);
  return number;
}

const queueStart = hashed(0x811c9dc5, 'queue ');
const taskStart = hashed(0x811c9dc5, 'task ');
