import type { Scope, StoredFact, TaskPage, TaskStore } from '@batonjs/store';
import type { Assignee, TaskRow } from '../api/task.ts';
import { remembered } from './remembered.ts';

const asking = 'TASK_STATE_INPUT_REQUIRED';
/** How many tasks are remembered. */
const most = 5_000;
/** How many facts are read: those just before the question, where an agent makes links, and those after it. */
const facts = { before: 20, after: 80 };

interface Asking {
  readonly scope: Scope;
  readonly row: TaskRow;
  readonly statusVersion: number;
}

/** Adds to the rows of a page the people that have their questions by links. A log that cannot be read names no one. */
export function assignees(store: Pick<TaskStore, 'readFacts'>) {
  const read = remembered(
    most,
    ({ scope, row: { id, version = 0 } }: Asking) => `${scope} ${id} ${version}`,
    async ({ scope, row: { id }, statusVersion }) => {
      const after = Math.max(0, statusVersion - facts.before);
      return assigneesIn(await store.readFacts(scope, id, after, facts.before + facts.after));
    },
  );
  return async (scope: Scope, rows: readonly TaskRow[], { tasks }: Pick<TaskPage, 'tasks'>) => {
    const open = rows.flatMap((row, index): Asking[] =>
      row.state === asking ? [{ scope, row, statusVersion: tasks[index]?.head.statusVersion ?? 0 }] : [],
    );
    const found = await read(open);
    const named = new Map(open.map(({ row }, index) => [row, found[index] ?? []]));
    return rows.map((row): TaskRow => {
      const people = named.get(row) ?? [];
      return people.length > 0 ? { ...row, assignees: people } : row;
    });
  };
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
