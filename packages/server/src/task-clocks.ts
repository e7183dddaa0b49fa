import { isInterrupted, type State } from '@batonjs/lifecycle';
import type { TaskClocks } from './settings.ts';

/** When the store must hand the task to somebody though nobody works on it: milliseconds since 1970, if ever. */
export function dueAt(state: State, { totalMs, interruptedMs }: TaskClocks): number | undefined {
  const times: number[] = [];
  if (totalMs !== undefined) times.push(Date.parse(state.createdAt) + totalMs);
  const status = state.task?.status;
  if (interruptedMs !== undefined && status?.timestamp && isInterrupted(status.state)) {
    times.push(Date.parse(status.timestamp) + interruptedMs);
  }
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** When the task is due while a turn works on it. */
export function dueWhileRunning(state: State, clocks: TaskClocks): number | undefined {
  const due = dueAt(state, clocks);
  if (clocks.inactivityMs === undefined) return due;
  return Math.min(due ?? Number.POSITIVE_INFINITY, Date.parse(state.at) + clocks.inactivityMs);
}
