import { A2AError, errorTable } from '@batonjs/protocol/errors';
import type { Failure } from '../agent/builders.ts';

/**
 * What clients are told of an error that an agent threw: an `A2AError` as it is, of everything else only that it was. Never
 * throws, whatever was thrown.
 */
export function failureOf(error: unknown): Failure {
  try {
    if (A2AError.is(error) && error.reason !== 'INTERNAL_ERROR' && Object.hasOwn(errorTable, error.reason))
      return { code: error.reason, message: String(error.message) };
  } catch {
    // It cannot even be looked at.
  }
  return { code: 'AGENT_FAILED', message: 'The agent failed' };
}

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
