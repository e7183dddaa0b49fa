import type { Metadata, State, TaskView } from '@batonjs/lifecycle';
import { TASK_TREE } from '@batonjs/protocol/headers';
import { parentIn } from '../../agent/task-tree.ts';

/** The `metadata` with which tasks are shown where these extensions are active; undefined for none. */
export const metadataFor = (extensions: readonly string[]): TaskView['metadata'] =>
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
