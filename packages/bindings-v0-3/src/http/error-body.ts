import { type Call, type IncomingReply, toDetails } from '@batonjs/bindings';
import { type A2AError, errorTable } from '@batonjs/protocol/errors';
import { downError, type ErrorData, errorIn, upError } from '../translation/error.ts';
import { nameOf } from '../translation/error-names.ts';
import { plainError } from './plain-error.ts';

/**
 * The body of an error on HTTP+JSON. SDKs of 0.3 differ in what they read of it: the `code` of JSON-RPC (JavaScript), the
 * name in `type` (Python), or the `google.rpc.Status` in `error` (Go), so that it has all three.
 */
export function errorBody(error: A2AError, data: ErrorData): string {
  const { reason, message } = error;
  const { http: code, status } = errorTable[reason];
  return JSON.stringify({
    ...downError(error, data),
    type: nameOf(reason),
    error: { code, status, message, details: toDetails(error) },
  });
}

/** The error of a refusal, in any of the forms of {@link errorBody}; `newer` is the error as 1.0 reads the reply. */
export function errorOfReply(call: Call, reply: IncomingReply, newer: A2AError): A2AError {
  const wire = errorIn(reply.body);
  if (!wire) return plainError(call, reply, newer) ?? newer;
  return upError(wire, newer);
}

/** The error in an event of a stream; undefined for other events. */
export function errorOfEvent(data: string): A2AError | undefined {
  const wire = errorIn(data);
  return wire && upError(wire);
}
