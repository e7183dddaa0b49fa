import { StoreError } from '../port/commit.ts';
import type { TaskName } from '../port/lease.ts';
import type { RecordRow, TaskRow, WebhookRow } from '../port/rows.ts';
import type { Notification } from '../port/task-store.ts';
import type { Moment } from './moment.ts';
import type { TurnPlace } from './task-row.ts';

/** A task that is wanted by its name. */
export interface WantedTask extends TaskName {
  /** A `once` key of the task. */
  readonly once?: string | undefined;
}

/**
 * What a decision has to know: tasks by name, or searches. Each search has an index. Times are compared with the `Moment`
 * that the same look finds. Searches with a `limit` may leave out rows that another change is about to write.
 */
export interface Wanted {
  /** Tasks by name, no name twice. Nothing else is wanted then but `webhooks`, `waiting` and `records`. */
  readonly tasks?: readonly WantedTask[];
  /** Records by name, no name twice. Nothing but tasks by name is wanted then. */
  readonly records?: readonly string[];
  /** The webhooks of these tasks too, of those that have any. */
  readonly webhooks?: boolean;
  /** Up to `limit` tasks of the queue that the holder has, in any order. */
  readonly held?: { readonly queue: string; readonly holder: string; readonly limit: number };
  /**
   * Tasks of the queue: up to `limit` that wait, by `waitingSince`; up to `limit` whose `dueAt` has come, by it; up to
   * `left` whose `leaseUntil` has come, by it. With `aheadMs`: also those whose time comes within so many milliseconds.
   */
  readonly ready?: {
    readonly queue: string;
    readonly limit: number;
    readonly left: number;
    readonly aheadMs?: number;
  };
  /** What a schedule counts and remembers of a queue. */
  readonly schedule?: { readonly queue: string };
  /**
   * Of each caller up to `limit` tasks by `turnAt`, of those that have one up to now (`orderNow`) and wait, or whose `dueAt` has come.
   * Without those of its contexts `except`.
   */
  readonly turns?: {
    readonly queue: string;
    readonly callers: readonly { readonly scope: string; readonly except: readonly string[] }[];
    readonly limit: number;
  };
  /** Up to `limit` webhooks of the queue by `readyAt`, up to `aheadMs` from now; or instead, more than `beyondMs` ahead. */
  readonly deliveries?: {
    readonly queue: string;
    readonly limit: number;
    readonly aheadMs?: number;
    readonly beyondMs?: number | undefined;
  };
  /** Up to `limit` webhooks of the queue that have `dead`, by scope, task and id. */
  readonly dead?: { readonly queue: string; readonly limit: number };
  /** Up to `limit` tasks with an `endedAt` before a time, by it. */
  readonly ended?: { readonly before: number; readonly limit: number };
  /** Up to `limit` records by name, from one on and before another one; of those with this `scope`, if it is there. */
  readonly listed?: {
    readonly scope?: string | undefined;
    readonly from: string;
    readonly until: string;
    readonly limit: number;
  };
  /** Up to `limit` records whose `expiresAt` has come, by it. */
  readonly expired?: { readonly limit: number };
  /** How many tasks of the queue have `waitingSince`. With `atMost`: may stop counting there. */
  readonly waiting?: { readonly queue: string; readonly atMost?: number | undefined };
  /** How many tasks and webhooks lie in a queue. For gauges: an adapter may leave it out. */
  readonly counts?: { readonly queue: string };
  /** A bucket by name. */
  readonly bucket?: string;
  /** Only what lies in this part of the tasks, at stores that keep them in parts; see `Rows.parts`. */
  readonly part?: number;
}

/** One task that was wanted by its name. */
export interface FoundTask {
  readonly row: TaskRow | undefined;
  /** Empty unless they were asked for. */
  readonly webhooks: readonly WebhookRow[];
  /** The position that is kept under the `once` key, if there is one. */
  readonly once: number | undefined;
}

/** What a schedule remembers of a queue. Claims that follow the schedule write it, so that no two give out at once. */
export interface QueueRow {
  readonly queue: string;
  /** Grows with each write; see `TaskRow`. */
  readonly revision: number;
  /** How many turns were given to callers in their order. */
  readonly turns: number;
}

/** A caller that has tasks with a `turnAt` in a queue. */
export interface WaitingCaller {
  readonly scope: string;
  /** The smallest `turnAt` of its tasks. */
  readonly firstAt: number;
  /** The `turn` of its row; 0 without one. */
  readonly turn: number;
}

/** The last turn that a caller got from a queue in its order. Of no use once it is one of `forgottenTurns`. */
export interface CallerRow {
  readonly queue: string;
  readonly scope: string;
  readonly turn: number;
}

/** The latest turn that is remembered of no caller, of a queue that gave out so many. Callers without a turn have 0. */
export const forgottenTurns = (turns: number): number => Math.max(0, turns - 10_000);

/** How much lies in a queue. What cannot be counted without a look at each row is absent. */
export interface QueueCounts {
  /** Tasks by their `countedAs`. */
  readonly tasks: Readonly<Record<string, number>>;
  /** `statusAt` of the oldest task that asks, by the wall clock. */
  readonly askedAt?: number | undefined;
  /** Webhooks that have `readyAt`. */
  readonly undelivered?: number;
  /** Webhooks that have `dead`. */
  readonly dead?: number;
}

/** What one look finds: the members that were wanted, and the moment. */
export interface Found extends Moment {
  /** In the order in which they were wanted. */
  readonly tasks?: readonly FoundTask[];
  readonly held?: readonly TaskRow[];
  readonly ready?: {
    readonly waiting: readonly TaskRow[];
    readonly due: readonly TaskRow[];
    readonly left: readonly TaskRow[];
  };
  readonly schedule?: {
    readonly row: QueueRow | undefined;
    /** All tasks of the queue with a lease. */
    readonly running: readonly TurnPlace[];
    readonly callers: readonly WaitingCaller[];
  };
  /** In the order in which the callers were named. */
  readonly turns?: readonly (readonly TaskRow[])[];
  readonly deliveries?: readonly WebhookRow[];
  readonly dead?: readonly WebhookRow[];
  readonly ended?: readonly TaskRow[];
  /** In the order in which they were wanted. */
  readonly records?: readonly (RecordRow | undefined)[];
  readonly listed?: readonly RecordRow[];
  readonly expired?: readonly RecordRow[];
  readonly waiting?: number;
  readonly counts?: QueueCounts;
  /** When the bucket is full, by the clock of leases; undefined if none is kept. */
  readonly fullAt?: number | undefined;
}

/** A member of what a look found. Throws `UNUSABLE` if it was wanted and the adapter has left it out. */
export const foundOf = <Name extends keyof Found>(found: Found, name: Name): NonNullable<Found[Name]> =>
  found[name] ?? leftOut(name);

/** The only task that was wanted by its name. */
export const foundTask = (found: Found): FoundTask => found.tasks?.[0] ?? leftOut('tasks');

function leftOut(name: string): never {
  throw new StoreError('UNUSABLE', `The adapter of the database has not looked for \`${name}\``);
}

/** A row that replaces another one. `before` is the object that was found; undefined stands for no row. */
export interface Replaced<Row> {
  readonly before: Row | undefined;
  readonly after: Row | undefined;
}

/** The row that is written, or the one that is deleted. */
export function changedRow<Row extends object>({ before, after }: Replaced<Row>): Row {
  const row = after ?? before;
  if (!row) throw new TypeError('A change has no row, neither before it nor after it');
  return row;
}

/**
 * What becomes of a task. Without a row `after`, the task is deleted with its facts, its snapshot, its `once` keys and
 * its webhooks.
 */
export interface TaskWrite<Json = string> extends Replaced<TaskRow> {
  /** Facts for the end of the log, which are kept with the id of their commit: positions `before.version + 1` and on. */
  readonly facts?: readonly Json[];
  readonly commitId?: string;
  /** Replaces the snapshot. */
  readonly snapshot?: { readonly version: number; readonly json: Json } | undefined;
  /** What the task is found by in searches by text. Only with a first fact; the row may be there before. */
  readonly text?: string | undefined;
  /** A new `once` key, to be kept with the position `before.version + 1`. */
  readonly once?: string | undefined;
}

/** The outcome of a decision: its result, and the rows to write, all or nothing. No row is written twice. */
export interface Change<T, Json = string> {
  readonly result: T;
  readonly tasks?: readonly TaskWrite<Json>[];
  readonly webhooks?: readonly Replaced<WebhookRow>[];
  readonly records?: readonly Replaced<RecordRow>[];
  readonly queue?: Replaced<QueueRow>;
  /** Rows that replace those of the same queue and caller. Beside a `queue`, of whose turns `forgottenTurns` are deleted. */
  readonly callers?: readonly CallerRow[];
  /** When the bucket that was wanted is full from now on. */
  readonly fullAt?: number;
  /** Topics may be there twice. */
  readonly notify?: readonly Notification[];
  /**
   * If it is there, the tasks do not depend on each other: a database may write each by itself, and resolves to what this
   * returns for those that it has written.
   */
  readonly partly?: (written: readonly Replaced<TaskRow>[]) => T;
  /** Whether a crash of the database may undo it: a process does nothing on the strength of it before a later commit. */
  readonly mayBeLost?: true;
}

/** A decision, and what it has to know. `decide` is pure and may be called again. It refuses by throwing a `StoreError`. */
export interface Step<T, Json = string> {
  readonly wanted: Wanted;
  /** Returns the change, or a step that has to know more; the rows of all its steps are those of one state. */
  readonly decide: (found: Found) => Change<T, Json> | Step<T, Json>;
  /** It mostly changes nothing: a database that has to lock for a change looks without a lock first. */
  readonly isMostlyIdle?: boolean;
}

/** The change of a step that needs one look. Throws if it wants another one. */
export function changeOf<T, Json>({ decide }: Step<T, Json>, found: Found): Change<T, Json> {
  const decision = decide(found);
  if ('decide' in decision) throw new TypeError('The step needs another look');
  return decision;
}

/**
 * The change of a step on rows that may be old. Undefined if it refuses, changes nothing or wants another look: that
 * has to be decided on the rows of the database.
 */
export function guessed<T, Json>({ decide }: Step<T, Json>, found: Found): Change<T, Json> | undefined {
  try {
    const decision = decide(found);
    return 'decide' in decision || isIdle(decision) ? undefined : decision;
  } catch (error) {
    if (StoreError.is(error)) return undefined;
    throw error;
  }
}

/** Whether nothing is written. */
export const isIdle = ({ tasks, webhooks, records, queue, fullAt }: Change<unknown, unknown>): boolean =>
  (tasks ?? webhooks ?? records ?? queue ?? fullAt) === undefined;
