import type { ChildUpdate, Command, State, TaskUpdate } from '@batonjs/lifecycle';
import { canceled, working } from '../agent/builders.ts';

/** Writes an update. A log that is no task yet becomes one. */
export function commandsFor(state: State, taskId: string, update: TaskUpdate): Command[] {
  const report: Command = { type: 'update', update };
  return state.task ? [report] : [{ type: 'create', taskId }, report];
}

/**
 * Writes an update of the agent and, in the same commit, those that follow it. After a cancel request, COMPLETED
 * becomes CANCELED unless the agent says that it finished before it noticed.
 */
export function reportCommands(
  state: State,
  taskId: string,
  update: TaskUpdate,
  more: readonly TaskUpdate[],
): Command[] {
  const commands = commandsFor(state, taskId, afterCancel(state, update));
  for (const next of more) commands.push({ type: 'update', update: afterCancel(state, next) });
  return commands;
}

/** Writes a question, which ends the turn. A client that canceled would not see that before its next message. */
export const questionCommands = (state: State, taskId: string, update: TaskUpdate): Command[] =>
  state.cancelRequested
    ? commandsFor(state, taskId, canceled())
    : [...commandsFor(state, taskId, update), { type: 'end-turn' }];

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

/** An agent that was aborted often takes half-finished work for finished. */
function afterCancel({ cancelRequested }: State, update: TaskUpdate): TaskUpdate {
  const claimsSuccess = 'status' in update && update.status.state === 'TASK_STATE_COMPLETED';
  return cancelRequested && claimsSuccess && !update.beforeCancel ? canceled() : update;
}
