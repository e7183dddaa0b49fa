import { viewTask } from '@batonjs/lifecycle';
import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { loadTask } from '@batonjs/store';
import type { Inspected } from '../agents/inspected.ts';

/** A task with its history, from the store or from the agent; undefined if there is none. */
export async function readTask({ store, link }: Inspected, id: string, scope = 0): Promise<Task | undefined> {
  const place = store?.scopes[scope];
  if (store && place) {
    const state = await loadTask(store.tasks, place.scope, id);
    return state?.task && viewTask(state, { currentStatusInHistory: true });
  }
  try {
    return await (await link?.client())?.getTask({ id });
  } catch (error) {
    if (A2AError.is(error, 'TASK_NOT_FOUND')) return undefined;
    throw error;
  }
}
