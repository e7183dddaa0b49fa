import { isInterrupted, nextTurnAt, type State } from '@batonjs/lifecycle';
import type { TaskTimeouts } from '../../base/timeouts.ts';

/**
 * When the store must offer the task to a claimer although it wants no turn: milliseconds since 1970, if ever. At its
 * deadline, or when its next turn starts.
 */
export function dueAt(state: State, timeouts: TaskTimeouts): number | undefined {
  if (state.closed) return undefined;
  const deadline = deadlineOf(state, timeouts);
  // A turn that may start at once is wanted, not due.
  const next = startsAt(state) || undefined;
  if (deadline === undefined || next === undefined) return deadline ?? next;
  return Math.min(deadline, next);
}

/** When the next turn may start: milliseconds since 1970, 0 for at once. Undefined if there is nothing to start it for. */
export function startsAt(state: State): number | undefined {
  const next = nextTurnAt(state);
  return next === undefined ? undefined : next === '' ? 0 : Date.parse(next);
}

/** When the task ends if no turn works on it: milliseconds since 1970, if ever. */
export function deadlineOf(state: State, { taskMs, interruptedMs }: TaskTimeouts): number | undefined {
  const status = state.task?.status;
  const ends = taskMs === undefined ? undefined : Date.parse(state.notBefore ?? state.createdAt) + taskMs;
  if (interruptedMs === undefined || !status?.timestamp || !isInterrupted(status.state)) return ends;
  return Math.min(ends ?? Number.POSITIVE_INFINITY, Date.parse(status.timestamp) + interruptedMs);
}

/** When the task is due while a turn works on it. */
export function dueWhileRunning(state: State, timeouts: TaskTimeouts): number | undefined {
  const due = deadlineOf(state, timeouts);
  if (timeouts.inactivityMs === undefined) return due;
  return Math.min(due ?? Number.POSITIVE_INFINITY, Date.parse(state.at) + timeouts.inactivityMs);
}
