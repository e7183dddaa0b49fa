import { remember } from '@batonjs/protocol/bounded-map';
import type { TaskName } from '../../port/lease.ts';
import type { TaskRow } from '../../port/rows.ts';
import { type Change, changedRow, type FoundTask } from '../../rules/change.ts';
import { nameOf } from '../../rules/claim.ts';

/** How many tasks are remembered. */
const most = 10_000;

/** What there is of a task without a row. */
export const noTask: FoundTask = { row: undefined, webhooks: [], once: undefined };

/**
 * Tasks as this process read or wrote them last, so that the next change of one needs no look before. They may have changed
 * since: a write compares their revisions, and a refusal is never decided on them. `Task`: what an adapter knows of one.
 */
export class Known<Task extends { readonly row: TaskRow | undefined }> {
  readonly #tasks = new Map<string, Task>();
  readonly #absent: Task;

  /** `absent`: what there is of a task without a row. */
  constructor(absent: Task) {
    this.#absent = absent;
  }

  /** Those that are wanted. One alone that is not known is taken for a new one. */
  find(wanted: readonly TaskName[]): Task[] | undefined {
    const [first] = wanted;
    if (first && wanted.length === 1) return [this.#tasks.get(nameOf(first)) ?? this.#absent];
    const found = wanted.flatMap((task) => this.#tasks.get(nameOf(task)) ?? []);
    return found.length === wanted.length ? found : undefined;
  }

  /** To be called with a task that was written or read. */
  set(name: TaskName, task: Task): void {
    const { row } = task;
    // A log that is closed changes no more.
    if (row?.head && !row.head.closed) remember(this.#tasks, nameOf(name), task, most);
    else this.#tasks.delete(nameOf(name));
  }

  forget(names: Iterable<TaskName>): void {
    for (const name of names) this.#tasks.delete(nameOf(name));
  }
}

/** Tasks with all of their webhooks, or without those that have some. */
export class KnownTasks extends Known<FoundTask> {
  constructor() {
    super(noTask);
  }

  remember(name: TaskName, { row, webhooks }: FoundTask): void {
    // A claim and a renewal do not read the webhooks of a task, and the next commit has to plan them.
    if (row?.webhooks === webhooks.length) this.set(name, { row, webhooks, once: undefined });
    else this.forget([name]);
  }

  /** To be called with a change that was written, by an adapter that does not remember webhooks. */
  wrote({ tasks = [] }: Change<unknown>): void {
    for (const task of tasks) {
      if (task.after) this.remember(task.after, { ...noTask, row: task.after });
      else this.forget([changedRow(task)]);
    }
  }
}
