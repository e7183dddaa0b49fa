import type { PushRow } from '../webhooks/push-row.ts';
import type { TaskRow } from './task-row.ts';

/** What a process knows of a task: every write compares it with etcd. */
export interface KnownTask {
  /** Undefined if the task does not exist. */
  readonly task: TaskRow | undefined;
  /** Undefined if it has no webhooks. */
  readonly pushes: PushRow | undefined;
}

/** How many tasks a process remembers. */
const size = 2_000;

/**
 * The tasks that this process read or wrote last, so that a commit needs no read. It may be wrong about all of them:
 * other processes write too.
 */
export class TaskCache {
  readonly #known = new Map<string, KnownTask>();

  get(key: string): KnownTask | undefined {
    return this.#known.get(key);
  }

  set(key: string, known: KnownTask): void {
    this.#known.delete(key);
    // Closed tasks are hardly ever written again.
    if (!known.task || known.task.row.head.closed) return;
    this.#known.set(key, known);
    if (this.#known.size > size) this.#known.delete(this.#known.keys().next().value!);
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
