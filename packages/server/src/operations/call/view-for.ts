import type { Metadata, State, TaskView } from '@batonjs/lifecycle';
import { GENERATION, TASK_TREE } from '@batonjs/protocol/headers';
import { parentIn } from '../../agent/task-tree.ts';

/** The members with which tasks are shown where these extensions are active. */
export const viewFor = (extensions: readonly string[]): Pick<TaskView, 'metadata' | 'generation'> => ({
  metadata: metadataFor(extensions),
  generation: extensions.includes(GENERATION),
});

/** The `metadata` with which tasks are shown where these extensions are active; undefined for none. */
const metadataFor = (extensions: readonly string[]): TaskView['metadata'] =>
  extensions.includes(TASK_TREE) ? withTree : undefined;

/** The parent of a task and its children, without what only its agent needs. */
function withTree(state: State): Metadata {
  const parent = parentIn(state.conversation.messages.items[0]);
  const children = Object.entries(state.children ?? {}).map(([name, { agent, taskId, state }]) => ({
    name,
    agent,
    ...(taskId !== undefined && { taskId }),
    ...(state !== undefined && { state }),
  }));
  return { [TASK_TREE]: { ...(parent && { parent }), children } };
}
