import { A2AError } from '@batonjs/client';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { describeFailure, type OnError } from '../translation/failures.ts';

/** An error as it is written. */
export const errorOf = ({ code, message, data }: ProtocolError) => ({
  code,
  message,
  ...(data !== undefined && { data }),
});

/**
 * The error of a request about a task. A task that does not exist and one of another caller are the same: -32602. An
 * agent that cannot be reached says nothing about its task: -32603, and the next read may find it.
 */
export function taskFailure(error: unknown, onError: OnError): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (A2AError.is(error, 'TASK_NOT_FOUND'))
    return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Task not found');
  const isOfParams = A2AError.is(error, 'INVALID_PARAMS');
  const code = isOfParams ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, describeFailure(error, onError));
}
