import { A2AError, ClientError } from '@batonjs/client';
import { SkillError } from '@batonjs/extensions/client';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { textResult } from './results.ts';

/** Sees errors that clients are not shown. */
export type OnError = (error: unknown) => void;

/** What a client may read of an error. Everything else goes to `onError`. */
export function describeFailure(error: unknown, onError: OnError): string {
  if (SkillError.is(error)) {
    const issues = error.issues.map(({ path, message }) => `\n${path ? `${path}: ` : ''}${message}`);
    return `${error.message}${issues.join('')}`;
  }
  if (A2AError.is(error)) {
    if (error.reason === 'UNAUTHENTICATED' || error.reason === 'PERMISSION_DENIED')
      return `The agent refused the credentials of this MCP server (${error.reason})`;
    if (error.reason !== 'INTERNAL_ERROR')
      return `The agent refused the call (${error.reason}): ${error.message}`;
  }
  onError(error);
  if (ClientError.is(error)) return `The agent cannot be called (${error.code})`;
  return 'Internal error';
}

/** The result of a tool whose call failed. Errors of the protocol are thrown instead. */
export function failedResult(error: unknown, onError: OnError): CallToolResult {
  if (error instanceof ProtocolError) throw error;
  return textResult(describeFailure(error, onError), true);
}

/** The error of a method other than a tool call. */
export function protocolError(error: unknown, onError: OnError): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (A2AError.is(error, 'TASK_NOT_FOUND'))
    return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Task not found');
  return new ProtocolError(codeOf(error), describeFailure(error, onError));
}

/** Spec: MCP 2025-11-25, Tasks: a cursor that is none, and a task that ended, are wrong parameters. */
function codeOf(error: unknown): ProtocolErrorCode {
  if (!A2AError.is(error)) return ProtocolErrorCode.InternalError;
  const isOfParams = error.reason === 'INVALID_PARAMS' || error.reason === 'TASK_NOT_CANCELABLE';
  return isOfParams ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InvalidRequest;
}
