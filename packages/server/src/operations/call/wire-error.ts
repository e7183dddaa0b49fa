import { UnknownFactError } from '@batonjs/lifecycle';
import { A2AError, errorTable } from '@batonjs/protocol/errors';
import { StoreError } from '@batonjs/store';
import type { Logger } from '../../base/hooks/logger.ts';

/**
 * The error that a client gets for any error; everything else about it is logged. `details.taskId`: the task that the
 * error is about, so that the client can ask for it when the store answers again.
 */
export function toWireError(
  error: unknown,
  logger: Logger,
  details: Readonly<Record<string, unknown>>,
): A2AError {
  if (A2AError.is(error)) {
    // Clients do not see the cause: only the log does.
    if (error.cause !== undefined && errorTable[error.reason].http >= 500 && !logged.has(error))
      logger('error', 'A request failed', { ...details, error });
    logged.add(error);
    return error;
  }
  const wire = translated(error, logger, details);
  logged.add(wire);
  return wire;
}

/** Errors pass through several functions; each error is logged once. */
const logged = new WeakSet<A2AError>();

function translated(error: unknown, logger: Logger, details: Readonly<Record<string, unknown>>): A2AError {
  const { taskId } = details;
  const metadata = typeof taskId === 'string' ? { taskId } : undefined;
  if (
    StoreError.is(error, 'UNAVAILABLE') ||
    StoreError.is(error, 'FENCED') ||
    StoreError.is(error, 'VERSION_CONFLICT') ||
    StoreError.is(error, 'UNUSABLE')
  ) {
    // An outage has lines of its own, which count the calls that fail.
    const isOutage = StoreError.is(error, 'UNAVAILABLE') || StoreError.is(error, 'UNUSABLE');
    logger(isOutage ? 'info' : 'error', 'The store is not available', { ...details, error });
    return new A2AError('UNAVAILABLE', undefined, { retryAfter: 1, metadata, cause: error });
  }
  if (StoreError.is(error, 'LOG_DELETED'))
    return new A2AError('TASK_NOT_FOUND', undefined, { metadata, cause: error });
  // Logged once, when the loss was noticed, and not for each follower of the task.
  if (StoreError.is(error, 'LOG_DIVERGED')) {
    return new A2AError('UNAVAILABLE', 'Some of what happened to the task was lost: get it again', {
      cause: error,
    });
  }
  if (UnknownFactError.is(error)) {
    logger('error', 'A task was written by a newer release', { ...details, error });
    return new A2AError('UNAVAILABLE', 'The task was written by a newer release of this server', {
      cause: error,
    });
  }
  logger('error', 'A request failed', { ...details, error });
  return A2AError.from(error);
}
