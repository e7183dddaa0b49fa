import type { FoundTask, TaskName, WantedTask } from '@batonjs/store';
import { taskName } from '../database/shards.ts';

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

  #of({ scope, taskId }: TaskName): FoundTask | undefined {
    return this.#tasks.get(taskName(scope, taskId));
  }

  remember(name: TaskName, task: FoundTask): void {
    const key = taskName(name.scope, name.taskId);
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

  forget(names: readonly TaskName[]): void {
    for (const { scope, taskId } of names) this.#tasks.delete(taskName(scope, taskId));
  }
}
