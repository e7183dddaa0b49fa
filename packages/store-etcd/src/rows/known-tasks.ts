import { absent, type KnownTask, noWebhooks } from '../layout/known-task.ts';
import { remember } from '../layout/remember.ts';

/** How many tasks a process remembers. */
const most = 2_000;

/**
 * The tasks that this process read or wrote last, so that a commit needs no read. It may be wrong about all of them:
 * other processes write too.
 */
export class KnownTasks {
  readonly #known = new Map<string, KnownTask>();

  /** Undefined if one is not known. One alone that is not known is taken for a new one. */
  find<Named extends { readonly task: string }>(
    named: readonly Named[],
  ): (Named & { readonly known: KnownTask })[] | undefined {
    const found = named.flatMap((one) => {
      const known = this.#known.get(one.task) ?? (named.length === 1 ? absent : undefined);
      return known ? { ...one, known } : [];
    });
    return found.length === named.length ? found : undefined;
  }

  set(task: string, known: KnownTask): void {
    const { row } = known;
    // Closed tasks are hardly ever written again.
    if (row?.head && !row.head.closed)
      remember(this.#known, task, row.webhooks === 0 ? { ...known, webhooks: noWebhooks } : known, most);
    else this.#known.delete(task);
  }

  forget(tasks: Iterable<string>): void {
    for (const task of tasks) this.#known.delete(task);
  }
}
