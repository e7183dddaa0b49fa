import type { TaskName } from '@batonjs/store';
import type { Wanted } from '@batonjs/store/adapter';
import type { WantedTask } from '@batonjs/store/rules';
import { digestOf } from '../layout/digest.ts';
import { absent, type KnownTask } from '../layout/known-task.ts';

/** A task that is wanted by its name, and the digest of that. */
export interface NamedTask extends WantedTask {
  readonly task: string;
}

export const taskIn = ({ scope, taskId }: TaskName): string => digestOf(scope, taskId);

export const namedIn = ({ tasks = [] }: Wanted): NamedTask[] =>
  tasks.map((one) => ({ ...one, task: taskIn(one) }));

/** Everything that one decision was given. */
export class Look {
  readonly #tasks = new Map<string, KnownTask>();
  /** The revisions of keys that must still be so besides the tasks. */
  readonly compares = new Map<string, number>();
  /** The last turns that callers got, by their digests. */
  readonly served = new Map<string, number>();
  /** A search found keys of rows that were not there any more. */
  hasMissed = false;
  /** A schedule's claim must not take so many tasks that one transaction cannot hold them: none in their turn. */
  readonly isNarrow: boolean;

  constructor(isNarrow = false) {
    this.isNarrow = isNarrow;
  }

  /** What was seen of a task. */
  get(task: string): KnownTask {
    return this.#tasks.get(task) ?? absent;
  }

  /** The first look at a task counts: if it was another one later, the write fails. */
  add(task: string, known: KnownTask): void {
    const first = this.#tasks.get(task);
    if (!first) this.#tasks.set(task, known);
    else if (!first.webhooks) this.#tasks.set(task, { ...first, webhooks: known.webhooks });
  }

  compare(key: string, revision = 0): void {
    if (!this.compares.has(key)) this.compares.set(key, revision);
  }
}
