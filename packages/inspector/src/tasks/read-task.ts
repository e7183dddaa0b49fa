import { TASK_TREE } from '@batonjs/extensions/client';
import { viewTask } from '@batonjs/lifecycle';
import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { loadTask } from '@batonjs/store';
import type { Inspected } from '../agents/inspected.ts';

/**
 * A task with its history, from the store or from the agent; undefined if there is none. Its metadata has the tasks that
 * it started, as the extension task-tree has them.
 */
export async function readTask({ store, link }: Inspected, id: string, scope = 0): Promise<Task | undefined> {
  const place = store?.scopes[scope];
  if (store && place) {
    const state = await loadTask(store.tasks, place.scope, id);
    if (!state?.task) return undefined;
    const children = Object.entries(state.children ?? {}).map(([name, { agent, taskId, state }]) => ({
      name,
      agent,
      taskId,
      state,
    }));
    const task = viewTask(state, { currentStatusInHistory: true });
    return children.length === 0
      ? task
      : { ...task, metadata: { ...task.metadata, [TASK_TREE]: { children } } };
  }
  try {
    const client = await link?.client();
    const isTree = client?.card.capabilities?.extensions?.some(({ uri }) => uri === TASK_TREE);
    return await client?.getTask({ id }, isTree ? { extensions: [TASK_TREE] } : {});
  } catch (error) {
    if (A2AError.is(error, 'TASK_NOT_FOUND')) return undefined;
    throw error;
  }
}
