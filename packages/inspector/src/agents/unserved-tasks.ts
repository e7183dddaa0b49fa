import { versionsOf } from '@batonjs/operator';
import type { Scope, TaskName, TaskStore } from '@batonjs/store';

/** A task whose turn waits for a version that no process runs. */
export interface UnservedTask extends TaskName {
  readonly version: string;
}

/** How many tasks of a version are found. */
const mostOfVersion = 100;
/** The shortest time between two looks, in milliseconds: tasks that are found for the first time are looked at again soon. */
const pauseMs = { usual: 5_000, soon: 1_000 };

/**
 * The tasks of an agent that only processes of versions could take that run nowhere. While such a process runs, a task
 * waits for it only shortly: so one counts from the second look that finds it.
 */
export class UnservedTasks {
  readonly #store: TaskStore;
  readonly #queue: string;
  readonly #now: () => number;
  #waiting: ReadonlySet<string> = new Set();
  #found: Promise<readonly UnservedTask[]> | undefined;
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(store: TaskStore, queue: string, now: () => number = () => performance.now()) {
    this.#store = store;
    this.#queue = queue;
    this.#now = now;
  }

  /** All of them, as they were a moment ago. */
  read(): Promise<readonly UnservedTask[]> {
    if (this.#found && this.#now() < this.#lookAt) return this.#found;
    this.#lookAt = this.#now() + pauseMs.usual;
    this.#found = this.#look().catch((error: unknown) => {
      this.#lookAt = Number.NEGATIVE_INFINITY;
      throw error;
    });
    return this.#found;
  }

  /** The version that a task waits for; undefined if it is not unserved. */
  async versionFor(scope: Scope, taskId: string): Promise<string | undefined> {
    const found = (await this.read()).find((task) => task.scope === scope && task.taskId === taskId);
    return found?.version;
  }

  async #look(): Promise<readonly UnservedTask[]> {
    const all: UnservedTask[] = [];
    if (this.#store.pinned)
      for (const version of await versionsOf(this.#store, this.#queue))
        for (const task of await this.#store.pinned(this.#queue, version, mostOfVersion))
          all.push({ ...task, version });
    const found = all.filter((task) => this.#waiting.has(keyOf(task)));
    this.#waiting = new Set(all.map(keyOf));
    if (found.length < all.length) this.#lookAt = this.#now() + pauseMs.soon;
    return found;
  }
}

const keyOf = ({ scope, taskId, version }: UnservedTask): string => JSON.stringify([scope, taskId, version]);
