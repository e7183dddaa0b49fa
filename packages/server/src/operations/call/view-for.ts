import { type Metadata, type State, type TaskView, usedTogether } from '@batonjs/lifecycle';
import type { SendMessageConfiguration } from '@batonjs/protocol';
import { GENERATION, LABELS, TASK_TREE, USAGE } from '@batonjs/protocol/headers';
import type { MessageOptions } from '../../agent/caller.ts';
import { parentIn } from '../../agent/message-content.ts';
import { readTimeline } from '../../log/generation/generation-at.ts';
import { timelineLengthParam } from '../../log/generation/generation-param.ts';
import type { CallContext, Dependencies } from './call-context.ts';

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

/** How a task in this state is shown to a caller, with its timeline where that extension is active. */
export async function viewOf(
  { id, version }: { readonly id: string; readonly version: number },
  { scope, extensions }: Pick<CallContext, 'scope' | 'extensions'>,
  { store, options }: Dependencies,
  { historyLength, timelineLength }: SendMessageConfiguration = {},
): Promise<TaskView> {
  const view = viewFor(extensions, options.messages, historyLength);
  const length = timelineLengthParam(timelineLength, 'timelineLength', extensions);
  if (length === undefined) return view;
  return { ...view, timeline: await readTimeline(store, scope, id, version, length) };
}

/** The `metadata` with which tasks are shown where these extensions are active; undefined for none. */
function metadataFor(extensions: readonly string[]): TaskView['metadata'] {
  if (extensions.length === 0) return undefined;
  const shown = Object.entries(metadataBy).flatMap(([uri, made]) => (extensions.includes(uri) ? made : []));
  return shown.length < 2 ? shown[0] : (state) => Object.assign({}, ...shown.map((made) => made(state)));
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

/** What its calls of models used, and, if the agents of its children say what these used, that as well. */
function withUsage({ tokens = 0, costs = {}, children = {} }: State): Metadata {
  const reported = Object.values(children).flatMap(({ usage }) => usage ?? []);
  const own = { tokens, costs };
  const others = reported.reduce(usedTogether, { tokens: 0, costs: {} });
  return { [USAGE]: reported.length === 0 ? own : { ...usedTogether(own, others), others } };
}

const metadataBy: Readonly<Record<string, (state: State) => Metadata>> = {
  [TASK_TREE]: withTree,
  [LABELS]: withLabels,
  [USAGE]: withUsage,
};
