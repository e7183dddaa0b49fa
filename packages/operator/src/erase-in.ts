import { A2AError } from '@batonjs/protocol/errors';
import { allRecords } from '@batonjs/server/internals';
import type { Answer, ListedTask, Scope, TaskStore } from '@batonjs/store';
import { deletionsOf } from '@batonjs/store/rules';
import { originOf } from './fork-stored.ts';

/** What was erased. */
export interface Erasure {
  readonly tasks: number;
  readonly facts: number;
  readonly webhooks: number;
  /** Ids of tasks that were asked to cancel and have not ended yet: call again to erase them. */
  readonly left: readonly string[];
}

const pageSize = 100;

/**
 * Deletes one task of a scope, those of a context, or all of them and the records of the scope, with everything that names
 * them. `cancel` is called for those that have not ended, and resolves when they have, or after some time. Rejects with
 * `UNSUPPORTED_OPERATION` at a store that cannot.
 */
export async function eraseIn(
  scope: Scope,
  { taskId, contextId }: { readonly taskId?: string | undefined; readonly contextId?: string | undefined },
  { store, queue }: { readonly store: TaskStore; readonly queue: string },
  cancel: (taskId: string) => Promise<void>,
): Promise<Erasure> {
  const erase = store.erase?.bind(store);
  if (!erase) throw new A2AError('UNSUPPORTED_OPERATION', 'The store erases no tasks');
  const done = { tasks: 0, facts: 0, webhooks: 0 };
  const left: string[] = [];
  const eraseOne = async (id: string): Promise<void> => {
    let erased = await erase(scope, id);
    if (erased === 'open') {
      await cancel(id);
      erased = await erase(scope, id);
    }
    if (erased === 'open') left.push(id);
    else if (erased) {
      done.tasks += 1;
      done.facts += erased.facts;
      done.webhooks += erased.webhooks;
    }
  };
  // A task that is canceled here moves to the front of the list, behind which a pass goes on: it is met once.
  const pass = async (isWanted: (taskId: string) => Answer<boolean>): Promise<void> => {
    for (let after: { statusAt: string; taskId: string } | undefined; ; ) {
      const page: { readonly tasks: readonly ListedTask[] } = await store.list(scope, {
        answered: true,
        limit: pageSize,
        ...(contextId !== undefined && { contextId }),
        ...(after && { after }),
      });
      for (const task of page.tasks) if (await isWanted(task.taskId)) await eraseOne(task.taskId);
      const last = page.tasks.at(-1);
      if (!last || page.tasks.length < pageSize) return;
      after = { statusAt: last.head.statusAt, taskId: last.taskId };
    }
  };
  if (taskId !== undefined) await eraseOne(taskId);
  else await pass(() => true);
  // A fork that began meanwhile is at the front too. What else began there says nothing of what was erased.
  const isNewFork = async (id: string) =>
    !left.includes(id) && (await originOf({ scope, taskId: id }, store)) !== undefined;
  for (let before = 0; taskId === undefined && before < done.tasks; ) {
    before = done.tasks;
    await pass(isNewFork);
  }
  if (taskId === undefined && contextId === undefined)
    for (const query of [{ scope }, { prefix: deletionsOf(scope) }])
      for (const { name } of await allRecords(store, query)) await store.deleteRecord(name);
  if (!store.forgetTurns) return { ...done, left };
  const { tasks } = await store.list(scope, { answered: true, limit: 1 });
  if (tasks.length === 0) await store.forgetTurns(queue, scope);
  return { ...done, left };
}
