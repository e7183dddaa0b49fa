import type { GetTaskRequest, Task, TaskState } from '@batonjs/protocol';
import { STATE_HISTORY } from '@batonjs/protocol/headers';
import { loadTask, type Scope, type StoredFact, type TaskStore } from '@batonjs/store';
import { viewWithin } from '../log/fit-task.ts';
import { factsUpTo } from '../log/generation/generation-at.ts';
import { generationParam, timelineLengthParam } from '../log/generation/generation-param.ts';
import { waitForGeneration } from '../log/generation/generations.ts';
import { type CallContext, type Dependencies, taskNotFound } from './call/call-context.ts';
import { viewOf } from './call/view-for.ts';

/**
 * GetTask, with the changes of its state where that extension is active. With `currentGeneration`, waits until the task is
 * beyond it. Spec: §3.1.3.
 */
export async function getTask(
  { id, historyLength, timelineLength, currentGeneration }: GetTaskRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<Task> {
  const { scope, extensions } = context;
  const { store, options } = dependencies;
  const { limits } = options;
  const known = generationParam(currentGeneration, 'currentGeneration', extensions);
  timelineLengthParam(timelineLength, 'timelineLength', extensions);
  if (known !== undefined) await waitForGeneration(id, known, context, dependencies);
  const state = await loadTask(store, scope, id);
  if (!state?.task) throw taskNotFound(id);
  const { version } = state;
  const view = await viewOf({ id, version }, context, dependencies, { historyLength, timelineLength });
  const task = viewWithin(state, view, limits.replyBytes);
  if (!extensions.includes(STATE_HISTORY)) return task;
  const history = await readStateHistory(store, scope, id, state.version);
  return { ...task, metadata: { ...task.metadata, [STATE_HISTORY]: history } };
}

/** A change of a task's state. */
export interface StateTransition {
  /** Absent for the first one. */
  readonly from?: TaskState;
  readonly to: TaskState;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  /** The position of the change in the task's log: grows with every change, with gaps. */
  readonly sequence: number;
  /** The id of the message that came with it, which is in the history or in the status. */
  readonly messageId?: string;
}

/** The metadata of a task under the URI of the extension. */
export interface StateHistory {
  /** Oldest first. */
  readonly transitions: readonly StateTransition[];
  /** How many older ones were left out. */
  readonly omitted?: number;
}

/** How many changes one reply shows: the newest. */
const mostShown = 1_000;

/**
 * Reads the changes of a task's state among the first `version` facts of its log. A state that is repeated with another
 * message is no change. Nothing is kept for it elsewhere: the log is read from its beginning.
 */
export async function readStateHistory(
  store: TaskStore,
  scope: Scope,
  taskId: string,
  version: number,
): Promise<StateHistory> {
  const transitions: StateTransition[] = [];
  let from: TaskState | undefined;
  for await (const stored of factsUpTo(version, store, scope, taskId)) {
    const transition = transitionOf(stored, from);
    if (!transition) continue;
    transitions.push(transition);
    from = transition.to;
  }
  const omitted = Math.max(0, transitions.length - mostShown);
  return { transitions: transitions.slice(omitted), ...(omitted > 0 && { omitted }) };
}

function transitionOf(
  { version, fact }: StoredFact,
  from: TaskState | undefined,
): StateTransition | undefined {
  if (fact.type === 'task-created') return { to: 'TASK_STATE_SUBMITTED', at: fact.at, sequence: version };
  if (fact.type !== 'status-changed' || fact.status.state === from) return undefined;
  const { state: to, message } = fact.status;
  return {
    ...(from && { from }),
    to,
    at: fact.at,
    sequence: version,
    ...(message && { messageId: message.messageId }),
  };
}
