import type { TaskName } from '../../port/names.ts';
import { type Change, changedRow, type FoundTask, type WantedTask } from '../../rules/change.ts';

/** How many tasks are remembered. */
const most = 10_000;

/** What there is of a task without a row. */
export const noTask: FoundTask = { row: undefined, webhooks: [], once: undefined };

/**
 * Tasks as this process wrote them last, so that the next change of one needs no look before. They may have changed since: a
 * write compares their revisions, and a refusal is never decided on them.
 */
export class KnownTasks {
  readonly #tasks = new Map<string, FoundTask>();

  /** Those that are wanted. One alone that is not known is taken for a new one. */
  find(wanted: readonly WantedTask[]): FoundTask[] | undefined {
    const [first] = wanted;
    if (first && wanted.length === 1) return [this.#of(first) ?? noTask];
    const found = wanted.flatMap((task) => this.#of(task) ?? []);
    return found.length === wanted.length ? found : undefined;
  }

  #of(name: TaskName): FoundTask | undefined {
    return this.#tasks.get(keyOf(name));
  }

  /** To be called with a task that was written or read. */
  remember(name: TaskName, task: FoundTask): void {
    const key = keyOf(name);
    this.#tasks.delete(key);
    // A log that is closed changes no more.
    if (!task.row?.head || task.row.head.closed) return;
    // A claim and a renewal do not read the webhooks of a task, and the next commit has to plan them.
    if (task.row.webhooks !== task.webhooks.length) return;
    this.#tasks.set(key, { row: task.row, webhooks: task.webhooks, once: undefined });
    if (this.#tasks.size <= most) return;
    for (const oldest of this.#tasks.keys()) {
      this.#tasks.delete(oldest);
      break;
    }
  }

  /** To be called with a change that was written, by an adapter that does not remember webhooks. */
  wrote({ tasks = [] }: Change<unknown>): void {
    for (const task of tasks) {
      if (task.after) this.remember(task.after, { ...noTask, row: task.after });
      else this.forget([changedRow(task)]);
    }
  }

  forget(names: Iterable<TaskName>): void {
    for (const name of names) this.#tasks.delete(keyOf(name));
  }
}

/** Ids hold no NUL. */
const keyOf = ({ scope, taskId }: TaskName): string => `${taskId}\0${scope}`;
