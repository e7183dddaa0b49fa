import type { Metadata, State, TaskView } from '@batonjs/lifecycle';
import { GENERATION, LABELS, TASK_TREE } from '@batonjs/protocol/headers';
import type { MessageOptions } from '../../agent/caller.ts';
import { parentIn } from '../../agent/task-tree.ts';

/** How tasks are shown where these extensions are active. */
export const viewFor = (
  extensions: readonly string[],
  { currentStatusInHistory }: Pick<MessageOptions, 'currentStatusInHistory'>,
  historyLength?: number,
): TaskView => ({
  historyLength,
  currentStatusInHistory,
  metadata: metadataFor(extensions),
  generation: extensions.includes(GENERATION),
});

/** The `metadata` with which tasks are shown where these extensions are active; undefined for none. */
function metadataFor(extensions: readonly string[]): TaskView['metadata'] {
  const hasTree = extensions.includes(TASK_TREE);
  if (!extensions.includes(LABELS)) return hasTree ? withTree : undefined;
  return hasTree ? (state) => ({ ...withTree(state), ...withLabels(state) }) : withLabels;
}

/** The labels of a task, which its head has as well. */
export const withLabels = ({ labels = [] }: Pick<State, 'labels'>): Metadata => ({ [LABELS]: labels });

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
