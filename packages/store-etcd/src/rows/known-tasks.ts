import { absent, type KnownTask, noWebhooks } from '../layout/known-task.ts';

/** How many tasks a process remembers. */
const most = 2_000;

/**
 * The tasks that this process read or wrote last, so that a commit needs no read. It may be wrong about all of them:
 * other processes write too.
 */
export class KnownTasks {
  readonly #known = new Map<string, KnownTask>();

  get(task: string): KnownTask | undefined {
    const known = this.#known.get(task);
    return known?.row?.webhooks === 0 ? { ...known, webhooks: noWebhooks } : known;
  }

  /** One alone that is not known is taken for a new one. */
  find(tasks: readonly string[]): ReadonlyMap<string, KnownTask> | undefined {
    const known = new Map(tasks.flatMap((task) => [[task, this.get(task)] as const]).filter(isKnown));
    if (known.size === 0 && tasks.length === 1) return new Map([[tasks[0]!, absent]]);
    return known.size === tasks.length ? known : undefined;
  }

  set(task: string, known: KnownTask): void {
    this.#known.delete(task);
    // Closed tasks are hardly ever written again.
    if (!known.row?.head || known.row.head.closed) return;
    this.#known.set(task, known);
    if (this.#known.size > most) this.#known.delete(this.#known.keys().next().value!);
  }

  forget(tasks: Iterable<string>): void {
    for (const task of tasks) this.#known.delete(task);
  }
}

const isKnown = (entry: readonly [string, KnownTask | undefined]): entry is [string, KnownTask] =>
  entry[1] !== undefined;
