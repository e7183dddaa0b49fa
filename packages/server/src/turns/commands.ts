import type { ChildUpdate, Command, State, TaskUpdate } from '@batonjs/lifecycle';
import { canceled, working } from '../agent/builders.ts';

/**
 * Writes updates. A log that is no task yet becomes one. Every way in which a task ends writes its end here: see
 * `afterCancel`.
 */
export function commandsFor(state: State, taskId: string, ...updates: TaskUpdate[]): Command[] {
  const commands: Command[] = state.task ? [] : [{ type: 'create', taskId }];
  for (const update of updates) commands.push({ type: 'update', update: afterCancel(state, update) });
  return commands;
}

/** Writes a question, which ends the turn. A client that canceled would not see that before its next message. */
export const questionCommands = (state: State, taskId: string, update: TaskUpdate): readonly Command[] =>
  unlessCanceled(state, taskId, [...commandsFor(state, taskId, update), { type: 'end-turn' }]);

/** The commands, or the end of a task whose client asked for it. */
export const unlessCanceled = (
  state: State,
  taskId: string,
  commands: readonly Command[],
): readonly Command[] =>
  state.cancelRequested && !state.closed ? commandsFor(state, taskId, canceled()) : commands;

/** Ends the task, if nothing else has. `thrown`: what the agent threw. */
export const endCommands = (
  state: State,
  taskId: string,
  update: TaskUpdate,
  children: readonly ChildUpdate[],
  thrown: Command | undefined,
): Command[] =>
  state.closed
    ? []
    : [
        ...(thrown ? [thrown] : []),
        ...children.map((child): Command => ({ type: 'update', update: { child } })),
        ...commandsFor(state, taskId, update),
      ];

/** Pauses the turn. Clients see that the task is being worked on. */
export function pauseCommands(state: State, taskId: string, pause: Command): Command[] {
  const { task } = state;
  const isNew = !task || task.status.state === 'TASK_STATE_SUBMITTED';
  return isNew ? [...commandsFor(state, taskId, working()), pause] : [pause];
}

/**
 * After a cancel request, a task does not end as COMPLETED or FAILED: an agent that was aborted often takes half-finished
 * work for finished, and a client would try again what its user canceled. Only an agent that says so finished before.
 */
function afterCancel({ cancelRequested }: State, update: TaskUpdate): TaskUpdate {
  if (!cancelRequested || !('status' in update) || update.beforeCancel) return update;
  const { state } = update.status;
  return state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_FAILED' ? canceled() : update;
}
