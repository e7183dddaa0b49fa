import { isInterrupted, type State } from '@batonjs/lifecycle';

/**
 * How long a task may take before the server ends it as FAILED with `DEADLINE_EXCEEDED`. Milliseconds; unset: no limit.
 */
export interface TaskClocks {
  /** From the first message to a terminal state. */
  readonly totalMs?: number;
  /** Between two updates of a running turn. */
  readonly inactivityMs?: number;
  /** In INPUT_REQUIRED or AUTH_REQUIRED. Without it, a question without an answer is never pruned. */
  readonly interruptedMs?: number;
}

/** When the store must offer the task to a claimer although it wants no turn: milliseconds since 1970, if ever. */
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
