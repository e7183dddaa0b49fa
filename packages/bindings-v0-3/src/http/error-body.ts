import { type Call, type IncomingReply, toDetails } from '@batonjs/bindings';
import { A2AError, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import { isObject, tryJson } from '@batonjs/protocol/json';
import { type OperationName, operations } from '@batonjs/protocol/operations';
import { downError, type ErrorData, errorIn, upError } from '../translation/error.ts';
import { nameOf, reasonNamed } from '../translation/error-names.ts';

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

/**
 * The error of a reply on HTTP+JSON that has a message but no code, as other SDKs of 0.3 write it. Its `type` tells its
 * reason, or else the HTTP status and the operation. Undefined for a reply that is not an agent's, such as a page of a
 * proxy.
 */
function plainError(
  call: Call,
  { status, body }: IncomingReply,
  { retryAfter }: Pick<A2AError, 'retryAfter'>,
): A2AError | undefined {
  const { message, type } = textsIn(body);
  const reason = message === undefined ? undefined : (reasonNamed(type) ?? reasonOf(call, status));
  return reason && new A2AError(reason, message || undefined, { retryAfter });
}

function reasonOf({ operation, params }: Call, status: number): ErrorReason | undefined {
  switch (status) {
    case 404:
      if (operation === 'GetExtendedAgentCard') return 'EXTENDED_AGENT_CARD_NOT_CONFIGURED';
      return namesTask(params) ? 'TASK_NOT_FOUND' : undefined;
    case 409:
      return 'TASK_NOT_CANCELABLE';
    case 415:
      return 'CONTENT_TYPE_NOT_SUPPORTED';
    case 422:
      return 'INVALID_PARAMS';
    case 501:
      return capabilityOf(operation) === 'pushNotifications'
        ? 'PUSH_NOTIFICATION_NOT_SUPPORTED'
        : 'UNSUPPORTED_OPERATION';
    case 502:
      return 'INVALID_AGENT_RESPONSE';
    default:
      return undefined;
  }
}

const capabilityOf = (operation: OperationName): string | undefined => {
  const row = operations[operation];
  return 'capability' in row ? row.capability : undefined;
};

const namesTask = ({ id, taskId, message }: Call['params']): boolean =>
  Boolean(id || taskId || (isObject(message) && message.taskId));

function textsIn(body: string): { readonly message?: string; readonly type?: unknown } {
  const { message, type } = Object(tryJson(body));
  return typeof message === 'string' ? { message, type } : {};
}
