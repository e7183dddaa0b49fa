import type { Snapshot } from '@batonjs/lifecycle';
import type { StoredFact } from './commit.ts';
import type { TaskName } from './names.ts';
import type { RecordRow, RowPage, TaskRow, WebhookRow } from './rows.ts';

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
