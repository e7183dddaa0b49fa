import { A2AError } from '@batonjs/protocol/errors';
import { messageOf } from '../facts/conversation.ts';
import { isInterrupted } from '../facts/states.ts';
import { isMessageDue, type OpenTurn, type State, stepOf, waitingFor } from '../state/state.ts';
import type { Command, Happening } from './command.ts';

export function startTurn(
  state: State,
  { alone, dueBy, version }: Command & { type: 'start-turn' },
  at: string,
): Happening[] {
  const { openTurn, task, turns, woken, wakeAt } = state;
  // After the clock was set back, the facts go on from the latest one, and people's times do not.
  const time = dueBy ?? at;
  // A program that wakes the task does not wait for messages that are postponed.
  const waiting = waitingFor(state);
  const due = woken ? waiting : waiting.filter((received) => isMessageDue(received, time));
  const isDue = openTurn
    ? !(openTurn.pausedUntil !== undefined && openTurn.pausedUntil > time)
    : woken || due.length > 0 || (wakeAt !== undefined && wakeAt <= time);
  if (!isDue) throw new A2AError('INTERNAL_ERROR', 'There is nothing to start a turn for');
  const started: Happening = openTurn
    ? {
        type: 'turn-started',
        turn: openTurn.number,
        attempt: openTurn.attempt + 1,
        messageIds: openTurn.messageIds,
        ...(alone && { alone }),
        ...(version !== undefined && { version }),
      }
    : {
        type: 'turn-started',
        turn: turns + 1,
        attempt: 1,
        messageIds: due.map(({ message }) => message.messageId),
        ...(alone && { alone }),
        ...(version !== undefined && { version }),
      };
  if (!task || !isInterrupted(task.status.state)) return [started];
  return [started, { type: 'status-changed', status: { state: 'TASK_STATE_WORKING', timestamp: at } }];
}

export function take(state: State, messageId: string): Happening[] {
  const { number: turn } = turnOf(state);
  if (state.pending.some(({ message }) => message.messageId === messageId))
    return [{ type: 'message-taken', turn, messageId }];
  if (messageOf(state.conversation, messageId)) return [];
  throw new A2AError('INVALID_AGENT_RESPONSE', `There is no message "${messageId}" to take`);
}

export function completeStep(
  state: State,
  { name, result, keep, usage }: Command & { type: 'complete-step' },
): Happening[] {
  const { number: turn } = turnOf(state);
  if (stepOf(state, name))
    throw new A2AError('INVALID_AGENT_RESPONSE', `Step "${name}" is completed already`);
  return [{ type: 'step-completed', turn, name, result, ...(keep && { keep }), ...(usage && { usage }) }];
}

export function failStep(
  state: State,
  { name, message, retryAt }: Command & { type: 'fail-step' },
): Happening[] {
  const { number: turn, stepFailures: failures } = turnOf(state);
  const before = failures && Object.hasOwn(failures, name) ? failures[name] : undefined;
  const attempt = (before?.attempt ?? 0) + 1;
  return [{ type: 'step-failed', turn, name, attempt, message, ...(retryAt !== undefined && { retryAt }) }];
}

export function failTurn(
  state: State,
  { type: _, ...failure }: Command & { type: 'fail-turn' },
): Happening[] {
  const { number: turn, attempt } = turnOf(state);
  return [{ type: 'turn-failed', turn, attempt, ...failure }];
}

export const endTurn = ({ openTurn }: State): Happening[] =>
  openTurn ? [{ type: 'turn-ended', turn: openTurn.number }] : [];

/** The turn that runs. Throws if there is none, or if it is paused. */
export function turnOf({ openTurn }: State): OpenTurn {
  if (!openTurn || openTurn.pausedUntil !== undefined)
    throw new A2AError('INVALID_AGENT_RESPONSE', 'No turn is running');
  return openTurn;
}
