import { A2AError, errorTable } from '@batonjs/protocol/errors';
import type { Failure } from '../agent/builders.ts';

/**
 * The failure that clients get for an error of an agent: an `A2AError` with its reason, message and metadata, other errors
 * without any detail. Never throws, for any thrown value.
 */
export function failureOf(error: unknown): Failure {
  try {
    if (A2AError.is(error) && error.reason !== 'INTERNAL_ERROR' && Object.hasOwn(errorTable, error.reason))
      return {
        code: error.reason,
        message: String(error.message),
        ...(error.metadata && { details: error.metadata }),
      };
  } catch {
    // The thrown value throws when its members are read.
  }
  return { code: 'AGENT_FAILED', message: 'The agent failed' };
}

/** The failure of a turn whose agent threw more than once says so. `attempts`: how often it did. */
export const withAttempts = (failure: Failure, attempts: number): Failure =>
  attempts > 1
    ? {
        ...failure,
        message: `${failure.message} (${attempts} attempts)`,
        details: { ...Object(failure.details), attempts },
      }
    : failure;

/** A clock of the task ran out. */
export const deadlineExceeded: Failure = {
  code: 'DEADLINE_EXCEEDED',
  message: 'The task took too long',
  retryable: true,
};
/** The process of the turn died, and the turn is not run again. */
export const processLost: Failure = {
  code: 'PROCESS_LOST',
  message: 'The process that worked on the task died',
  retryable: true,
};
/** The server closed while the turn ran. */
export const serverClosed: Failure = {
  code: 'SERVER_CLOSED',
  message: 'The server closed before the task was done',
  retryable: true,
};
/** Why the runner stops waiting for the agent. */
export type Halt =
  /** The task belongs to another process. Nothing may be written. */
  | 'fenced'
  /** The task was canceled and the agent did not stop in time. */
  | 'canceled'
  | 'deadline'
  /** A step waits for its next try for long. */
  | 'paused'
  /** The run that works on the turn has no time left. */
  | 'overtime'
  | 'shutdown';

const reasons: Record<Halt, string> = {
  fenced: 'The task belongs to another process now',
  canceled: 'The task was canceled',
  deadline: 'The time for the task is over',
  paused: 'The turn is paused until the next try of a step',
  overtime: 'The run that works on the turn ends',
  shutdown: 'The server closes',
};

/** The reason with which the signal of the turn is aborted. */
export const because = (halt: Halt): Error =>
  Object.assign(new Error(reasons[halt]), { code: halt.toUpperCase() });

/** One for all turns: making an error costs more than ending a turn. */
export const turnOver = new Error('The turn is over');
