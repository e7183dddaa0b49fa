import type { Fact, Snapshot } from '@batonjs/lifecycle';
import { type StoredFact, StoreError } from '../port/commit.ts';
import type { Scope } from '../port/lease.ts';
import type { Answer, RowPage, TaskRow } from '../port/rows.ts';
import type { TaskPage, Topic, Unsubscribe } from '../port/task-store.ts';
import type { Found, Step, Wanted } from '../rules/change.ts';
import type { ListSearch } from '../rules/list.ts';

/** The log of a task in one consistent read. */
export interface KeptLog {
  readonly row: TaskRow;
  readonly snapshot?: Snapshot | undefined;
  /** All facts after the snapshot, or all facts, in order. */
  readonly facts: readonly StoredFact[];
}

/** Some facts of a log in one consistent read. */
export interface KeptFacts {
  /** The length of the log; 0 if there is none. */
  readonly version: number;
  /** In order. */
  readonly facts: readonly StoredFact[];
}

/** The parts of a store that cannot change several tasks in one step. */
export interface Parts {
  readonly count: number;
  /** The part of a task, from 0 to `count - 1`. */
  of(taskId: string): number;
}

/**
 * Finds tasks by their texts. While it is on, a change also keeps the `wordsOf` the `text` of each write; they go with the
 * row of their task, whichever process deletes it.
 */
export interface TextSearch {
  isOn(): Answer<boolean>;
  /** One page, like `page`, of those tasks that have words with all of these prefixes. Called only while it is on. */
  page(scope: Scope, search: ListSearch, prefixes: readonly string[]): Answer<TaskPage>;
}

/**
 * What a database brings to `createStore`: rows that are kept and found. It takes no decision and calculates no column.
 * Methods reject with a `StoreError` of code `UNAVAILABLE` if the database failed, with `UNUSABLE` if it cannot be used
 * at all. `Json`: what a fact or a snapshot is kept as, mostly text.
 */
export interface Rows<Json = string> {
  /** See `TaskStore.system`. */
  readonly system?: string;
  /** See `TaskStore.isPrivate`. */
  readonly isPrivate?: boolean;

  /** The fact or the snapshot as it is kept. Called before a commit waits for anything: its caller may change it then. */
  encode(value: Fact | Snapshot): Json;

  /** Finds the rows that are wanted, in one consistent look, without locks. */
  read(wanted: Wanted): Answer<Found>;

  /**
   * Looks, decides, and writes, as if no other change happened meanwhile: everything that `decide` was given still is as
   * it was when the change is stored, or it is called again with the rows as they are now. Writes all of the change or
   * nothing, and nothing at all if `decide` throws. Resolves to the `result` once the change is durable, and notifies
   * the subscribers of its topics then, in this process and in others. What only takes from a bucket need not be durable.
   */
  change<T>(step: Step<T, Json>): Answer<T>;

  /** The log of a task. Undefined if the task has no row. Rejects with `UNREADABLE` if a fact of it is no JSON. */
  log(scope: Scope, taskId: string): Answer<KeptLog | undefined>;

  /**
   * Facts with positions after `after`, whichever are there, at most `limit`, and fewer only at the end of the log or if
   * it was deleted meanwhile. Rejects with `UNREADABLE` if one is no JSON.
   */
  facts(scope: Scope, taskId: string, after: number, limit: number): Answer<KeptFacts>;

  /** One page of a scope's tasks; see `TaskPage`. */
  page(scope: Scope, search: ListSearch): Answer<TaskPage>;

  /** Of a database that can keep the texts of tasks, and finds tasks by them. */
  readonly texts?: TextSearch;

  /**
   * A page of the rows of all tasks, also of those without a log, of about `limit`. In any order: each task that is there all
   * the while is there at least once. `from`: where the page begins. With it, a store can be moved into another one.
   */
  every?(from: string | undefined, limit: number): Answer<RowPage>;

  /**
   * From now on, each change of tasks, webhooks and records, of any process, rejects with `UNAVAILABLE` and `read-only`: for
   * so many milliseconds, or forever at `Infinity`. What was under way is durable when this resolves. 0 ends it. Left out by
   * a store that no other process has.
   */
  freeze?(ms: number): Answer<void>;

  /** Calls `notify` after each change of a topic, also of other processes; see `TaskStore.subscribe` and `Subscribers`. */
  subscribe(topic: Topic, notify: (version?: number) => void): Answer<Unsubscribe>;

  /** See `TaskStore.identity`. */
  identity(): Answer<string>;

  /** See `TaskStore.probe`. */
  probe?(): Answer<void>;

  /** See `TaskStore.ping`. */
  ping(): Answer<void>;

  /** Closes what was opened. Called once, when no other call is under way. */
  close(): Answer<void>;

  /**
   * Into which parts tasks are divided by their ids. Only for a database that cannot change tasks of different parts in
   * one step. All tasks of one change are then of one part, searches name it (`Wanted.part`), and claims go from part to
   * part. What a schedule counts and remembers of a queue, and `waiting`, are those of one part.
   */
  parts?(): Answer<Parts>;
}

/** Parses a stored fact. Throws a `StoreError` of code `UNREADABLE`, with its position, if the text is not JSON. */
export function parseFact(json: string, version: number): Fact {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new StoreError('UNREADABLE', `The fact at ${version} is no valid JSON`, { cause });
  }
}

/** The fact that `read` returns, for a page; undefined if it is damaged, so that the rest of the page can be read. */
export function listedFact(read: () => StoredFact): StoredFact | undefined {
  try {
    return read();
  } catch (error) {
    if (StoreError.is(error, 'UNREADABLE')) return undefined;
    throw error;
  }
}
