import type { Scope, StoredFact, TaskPage, TaskStore } from '@batonjs/store';
import type { Assignee, TaskRow } from '../api/task.ts';

const asking = 'TASK_STATE_INPUT_REQUIRED';
/** How many tasks are remembered. */
const most = 5_000;
/** How many logs are read at once. */
const atOnce = 32;
/** How many facts are read: those just before the question, where an agent makes links, and those after it. */
const facts = { before: 20, after: 80 };

/** Reads who was asked by links, of tasks that wait for an answer: once for each change of a log. */
export class Assignees {
  readonly #store: Pick<TaskStore, 'readFacts'>;
  readonly #known = new Map<string, readonly Assignee[]>();

  constructor(store: Pick<TaskStore, 'readFacts'>) {
    this.#store = store;
  }

  /** The rows of a page with the people that have their questions. A log that cannot be read names no one. */
  async addTo(
    scope: Scope,
    rows: readonly TaskRow[],
    { tasks }: Pick<TaskPage, 'tasks'>,
  ): Promise<TaskRow[]> {
    if (!rows.some(({ state }) => state === asking)) return [...rows];
    const added: TaskRow[] = [];
    for (let from = 0; from < rows.length; from += atOnce) {
      const part = rows.slice(from, from + atOnce);
      added.push(
        ...(await Promise.all(
          part.map(async (row, index) => {
            const assignees = await this.#of(scope, row, tasks[from + index]?.head.statusVersion ?? 0);
            return assignees.length > 0 ? { ...row, assignees } : row;
          }),
        )),
      );
    }
    return added;
  }

  async #of(
    scope: Scope,
    { id, version = 0, state }: TaskRow,
    statusVersion: number,
  ): Promise<readonly Assignee[]> {
    if (state !== asking) return [];
    const key = `${scope} ${id} ${version}`;
    const known = this.#known.get(key);
    if (known) return known;
    const after = Math.max(0, statusVersion - facts.before);
    const read = await this.#store
      .readFacts(scope, id, after, facts.before + facts.after)
      .catch(() => undefined);
    if (!read) return [];
    const assignees = assigneesIn(read);
    this.#known.set(key, assignees);
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
    return assignees;
  }
}

/** Who was asked since the latest message of a client, each once. */
function assigneesIn(read: readonly StoredFact[]): readonly Assignee[] {
  const asked = new Map<string, Assignee>();
  for (const { fact } of read) {
    if (fact.type === 'message-received') asked.clear();
    if (fact.type === 'callback-opened' && fact.answers)
      asked.set(fact.answers.by, { by: fact.answers.by, expiresAt: fact.expiresAt });
  }
  return [...asked.values()];
}
