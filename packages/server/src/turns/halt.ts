/** Why the runner stops waiting for the agent. */
export type Halt =
  /** The task belongs to another process. Nothing may be written. */
  | 'fenced'
  /** The task was canceled and the agent did not stop in time. */
  | 'canceled'
  | 'deadline'
  | 'shutdown';

const reasons: Record<Halt, string> = {
  fenced: 'The task belongs to another process now',
  canceled: 'The task was canceled',
  deadline: 'The time for the task is over',
  shutdown: 'The server closes',
};

/** The reason with which the signal of the turn is aborted. */
export const because = (halt: Halt): Error =>
  Object.assign(new Error(reasons[halt]), { code: halt.toUpperCase() });

/** One for all turns: making an error costs more than ending a turn. */
export const turnOver = new Error('The turn is over');
