import { StoreError } from '@batonjs/store';
import {
  type Change,
  changedRow,
  type Found,
  type Grouped,
  type RecordRow,
  type Step,
  type TaskRow,
} from '@batonjs/store/adapter';
import { changeOf, isIdle } from '@batonjs/store/rules';
import { momentAt } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { Collected } from './collected.ts';
import type { NamedTask, ReadTasks } from './named-tasks.ts';

/** A step that waits for its transaction. */
export type Pending = Grouped<{ readonly step: Step<unknown>; readonly tasks: readonly NamedTask[] }>;

/** What a step of the group comes to. */
export type Outcome = { readonly pending: Pending } & (
  | { readonly change: Change<unknown> }
  | { readonly refusal: StoreError }
);

// Longer ones would keep rows locked for too long. The facts of all are one string on the wire, and a string cannot have more
// than half a gigabyte.
const mostCharacters = 4 * 1024 * 1024;

/** Decides the changes of one transaction one after the other, in memory, and collects their writes. */
export class GroupTransaction {
  readonly collected = new Collected();
  readonly #known: ReadTasks;
  readonly #records: Map<string, RecordRow | undefined>;
  /** How many tasks wait in each queue. */
  readonly #waiting: Map<string, number>;
  /** The keys of tasks that it writes, and of those that it deletes. None is both: its rows in other tables are not. */
  readonly #written = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #now: number;

  constructor(
    known: ReadTasks,
    records: Map<string, RecordRow | undefined>,
    waiting: Map<string, number>,
    now: number,
  ) {
    this.#known = known;
    this.#records = records;
    this.#waiting = waiting;
    this.#now = now;
  }

  /** `'full'`: the changes so far and this one are too long for one statement, or one deletes a task that the other writes. */
  decide(pending: Pending): Outcome | 'full' {
    const { step, tasks } = pending.item;
    const { wanted } = step;
    if (tasks.some(({ key }) => this.#deleted.has(key))) return 'full';
    const found: Found = {
      ...momentAt(this.#now),
      tasks: tasks.map((task) => this.#known.find(task, wanted.webhooks === true)),
      records: wanted.records?.map((name) => this.#records.get(name)),
      waiting: wanted.waiting && (this.#waiting.get(wanted.waiting.queue) ?? 0),
    };
    try {
      const change = changeOf(step, found);
      if (change.tasks?.some(({ after }) => !after) && tasks.some(({ key }) => this.#written.has(key)))
        return 'full';
      if (!hasRoom(this.collected, change)) return 'full';
      if (!isIdle(change)) this.#apply(change);
      return { pending, change };
    } catch (error) {
      if (!StoreError.is(error)) throw error;
      return { pending, refusal: error };
    }
  }

  #apply(change: Change<unknown>): void {
    this.collected.add(change);
    for (const write of change.tasks ?? []) {
      const { before, after, once } = write;
      const { scope, taskId } = changedRow(write);
      const key = keyOf(scope, taskId);
      (after ? this.#written : this.#deleted).add(key);
      if (after) this.#known.rows.set(key, after);
      if (once !== undefined) this.#known.use(key, keyOf(once), (before?.version ?? 0) + 1);
      this.#count(before, -1);
      this.#count(after, 1);
    }
    for (const webhook of change.webhooks ?? []) this.#known.replaceWebhook(webhook);
    for (const record of change.records ?? []) this.#records.set(changedRow(record).name, record.after);
  }

  #count(row: TaskRow | undefined, tasks: number): void {
    if (row?.waitingSince === undefined || row.queue === undefined) return;
    this.#waiting.set(row.queue, (this.#waiting.get(row.queue) ?? 0) + tasks);
  }
}

/** Whether one statement has room for a change beside the collected ones. */
export function hasRoom({ characters }: Collected, { tasks = [] }: Change<unknown>): boolean {
  if (characters === 0) return true;
  const more = tasks.reduce(
    (sum, { facts = [], snapshot }) =>
      facts.reduce((all, fact) => all + fact.length, sum + (snapshot?.json.length ?? 0)),
    0,
  );
  return characters + more <= mostCharacters;
}
