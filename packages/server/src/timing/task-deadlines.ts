import { isInterrupted, type State } from '@batonjs/lifecycle';
import type { TaskClocks } from '../limits/limits.ts';

/** When the store must hand the task to somebody though nobody works on it: milliseconds since 1970, if ever. */
export function dueAt(state: State, { totalMs, interruptedMs }: TaskClocks): number | undefined {
  const status = state.task?.status;
  const ends = totalMs === undefined ? undefined : Date.parse(state.createdAt) + totalMs;
  if (interruptedMs === undefined || !status?.timestamp || !isInterrupted(status.state)) return ends;
  return Math.min(ends ?? Number.POSITIVE_INFINITY, Date.parse(status.timestamp) + interruptedMs);
}

/** When the task is due while a turn works on it. */
export function dueWhileRunning(state: State, clocks: TaskClocks): number | undefined {
  const due = dueAt(state, clocks);
  if (clocks.inactivityMs === undefined) return due;
  return Math.min(due ?? Number.POSITIVE_INFINITY, Date.parse(state.at) + clocks.inactivityMs);
}
