import type { Scope, TaskStore } from '@batonjs/store';
import type { TaskRow } from '../api/task.ts';
import { remembered } from './remembered.ts';
import { titleOf } from './title.ts';

/** What the first fact of a task says of it. It never changes. */
export type Brief = Pick<TaskRow, 'title' | 'startedAt'>;

/** How many tasks are remembered: those of the pages that are looked at. */
const most = 20_000;

/** Adds to rows what their tasks are about. One whose log cannot be read stays as it is. */
export function briefs(store: Pick<TaskStore, 'readFacts'>) {
  const read = remembered(
    most,
    ({ scope, id }: { readonly scope: Scope; readonly id: string }) => `${scope} ${id}`,
    async ({ scope, id }): Promise<Brief | undefined> => {
      const [first] = await store.readFacts(scope, id, 0, 1);
      if (!first) return undefined;
      const { fact } = first;
      const title = fact.type === 'message-received' ? titleOf(fact.message) : undefined;
      return { startedAt: fact.at, ...(title !== undefined && { title }) };
    },
  );
  return async (scope: Scope, rows: readonly TaskRow[]): Promise<TaskRow[]> => {
    const found = await read(rows.map(({ id }) => ({ scope, id })));
    return rows.map((row, index) => ({ ...found[index], ...row }));
  };
}
