import type { Head, Snapshot } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { StoredFact } from './commit.ts';
import type { Scope, TaskName } from './lease.ts';
import type { PushConfig } from './push-config-store.ts';

/**
 * How much lies in a queue, for gauges. The store counts as things change, or looks at the first row of an index: a
 * reading costs the same however many tasks there are. A member that a store cannot tell at that cost is absent. Turns
 * that are pinned to a version are left out.
 */
export interface QueueReading {
  /** Tasks that wait for a turn. */
  readonly waiting: number;
  /** For how many milliseconds the turn that could have been claimed longest has waited; absent if none can. */
  readonly waitingMs?: number;
  /** Milliseconds until a turn or a delivery can be claimed, 0 if one can be now; absent if there is nothing to do. */
  readonly nextMs?: number;
  /** Turns that begin or go on at a later time: after a pause, or as the next try. */
  readonly postponed?: number;
  /** Tasks that wait for an answer of their client, by state. States without such tasks may be absent. */
  readonly questions?: Readonly<Partial<Record<TaskState, number>>>;
  /** Milliseconds since the oldest of these questions was asked; absent if there is none. */
  readonly questionMs?: number;
  /** Webhooks that have not heard of all updates yet. A store may count up to 10,000 only, and etcd counts their tasks. */
  readonly undelivered?: number;
  /** For how many milliseconds the delivery that could have been claimed longest has waited; absent if none can. */
  readonly undeliveredMs?: number;
  /** Webhooks that were given up, counted in the same way. */
  readonly dead?: number;
}

/** What a store keeps of a task besides its facts. */
export interface StoredTask {
  /** Its lease ends so many milliseconds from now, as `leaseUntil` and `leasedAt` have it here. */
  readonly row: TaskRow;
  readonly webhooks: readonly WebhookRow[];
  readonly snapshot?: Snapshot | undefined;
}

/** A fact with the `once` key of its commit, if it is the first one of a commit that has a key. */
interface KeyedFact extends StoredFact {
  readonly once?: string;
}

/**
 * Moves all of a store into another one, whatever database that has: rows as they are, and no decision is taken again.
 * Order of callers and buckets of rates stay behind.
 */
export interface Transfer {
  /** Some of all tasks; see `Rows.every`. `from`: the `next` of the page before. */
  tasks(from: string | undefined, limit: number): Promise<RowPage>;

  /** Tasks by their names, with their webhooks; without a row where there is none. */
  find(
    names: readonly TaskName[],
  ): Promise<readonly { readonly row: TaskRow | undefined; readonly webhooks: readonly WebhookRow[] }[]>;

  /** A task by its name; undefined if it was deleted meanwhile. */
  read(name: TaskName): Promise<StoredTask | undefined>;

  /** Up to `limit` facts after a position, in order. */
  facts(name: TaskName, after: number, limit: number): Promise<readonly KeyedFact[]>;

  /**
   * Adds facts, each with its commit. The task is no log until it is put. Rejects with `VERSION_CONFLICT` where the log
   * has another length than up to them.
   */
  append(name: TaskName, facts: readonly KeyedFact[]): Promise<void>;

  /** Puts a task whose facts are there, with its webhooks, in place of the one that is there. */
  put(task: StoredTask): Promise<void>;

  /** Deletes all of a task, and remembers nothing of it. */
  remove(name: TaskName): Promise<void>;

  /** Up to `limit` records after a name, in the order of their names, also those whose time is over. */
  records(after: string | undefined, limit: number): Promise<readonly RecordRow[]>;

  /** Puts a record as it is, or deletes it where only its name is given. */
  putRecord(record: RecordRow | string): Promise<void>;

  /** See `Rows.freeze`. Absent: no other process has this store. */
  freeze?(ms: number): Promise<void>;
}

/**
 * All that is kept of a task besides its facts, its snapshot and its `once` keys, as plain columns. The rules make every row,
 * so that an adapter stores the columns, searches by them, and calculates none. Times are milliseconds: of the wall clock since
 * 1970, except where the clock of leases is named. Of `waitingSince`, `dueAt` and `leaseUntil`, at most one is there.
 */
export interface TaskRow extends TaskName {
  /**
   * Grows with each write. A row that is made after another one of its name was deleted begins with a larger number than
   * that one had. For databases that write a row only if it is as it was read.
   */
  readonly revision: number;
  /** The length of the log; 0 while there are only webhooks. Such a row is no log: nothing but its name finds it. */
  readonly version: number;
  /** Undefined while the log is empty. */
  readonly head: Head | undefined;
  /** When the last fact happened, as it says; `''` while the log is empty. */
  readonly lastAt: string;
  /** How many webhooks the task has. */
  readonly webhooks: number;
  /** Where the task is claimed from. */
  readonly queue: string | undefined;
  readonly wanted: boolean;
  /** The largest fence ever issued for the task; 0 before the first. */
  readonly fence: number;
  /** The token that holds the lease; undefined while the task is free. */
  readonly holder: string | undefined;
  /** How much longer than it has the task counts as having waited; undefined if no schedule orders it. */
  readonly aheadMs: number | undefined;
  /** Since when the task waits for a turn, by the clock of the order. Searched by (queue, waitingSince), and counted by queue. */
  readonly waitingSince: number | undefined;
  /** From when a free task that wants no turn may be claimed. Searched by (queue, dueAt). */
  readonly dueAt: number | undefined;
  /** The end of the lease, by the clock of leases. Searched by (queue, leaseUntil), and by (queue, holder). */
  readonly leaseUntil: number | undefined;
  /** When the lease was given or renewed, by the clock of leases. */
  readonly leasedAt: number | undefined;
  /** The place of a free task in the order of a schedule, the smallest first. Searched by (queue, scope, turnAt). */
  readonly turnAt: number | undefined;
  /** When a log ended that may be deleted, with the `keepMs` of its head: nothing is undelivered. Searched by it alone. */
  readonly endedAt: number | undefined;
}

/** A webhook with what its deliveries are decided on. Times are milliseconds of the wall clock since 1970. */
export interface WebhookRow extends PushConfig {
  /** Grows with each write; see `TaskRow`. */
  readonly revision: number;
  /** The largest fence ever issued for the webhook. */
  readonly fence: number;
  /** The token that delivers; undefined while there is no delivery under way. */
  readonly holder: string | undefined;
  readonly leaseUntil: number | undefined;
  /**
   * From when a claim may take it; undefined while there is nothing to deliver, and once delivery was given up. Searched
   * by (queue, readyAt).
   */
  readonly readyAt: number | undefined;
}

/** A record with what it is found by. */
export interface RecordRow {
  /** Searched by it, in the order of its characters. */
  readonly name: string;
  readonly revision: number;
  readonly json: string;
  /** Searched by (scope, name). */
  readonly scope: Scope | undefined;
  readonly ttlMs: number | undefined;
  /** When its time is over, in milliseconds of the wall clock since 1970. Searched by it alone. */
  readonly expiresAt: number | undefined;
}

/** Some of all tasks. */
export interface RowPage {
  readonly rows: readonly TaskRow[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

/** What a store or a database answers: at once, or as a promise. */
export type Answer<T> = T | Promise<T>;

/** Whether an answer is still to come, or is a failure. Promises of other libraries count too. */
export const isPending = <T>(answer: Answer<T>): answer is Promise<T> =>
  typeof (answer as { readonly then?: unknown } | null | undefined)?.then === 'function';

/** What follows from an answer, at once if it is there at once. */
export const whenAnswered = <T, U>(answer: Answer<T>, use: (value: T) => Answer<U>): Answer<U> =>
  isPending(answer) ? answer.then(use) : use(answer);
