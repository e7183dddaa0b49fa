import type { Call, IncomingReply } from '@batonjs/bindings';
import { A2AError, type ErrorReason } from '@batonjs/protocol/errors';
import { isObject, tryJson } from '@batonjs/protocol/json';
import { type OperationName, operations } from '@batonjs/protocol/operations';
import { reasonNamed } from '../translation/error-names.ts';

/**
 * The error of a reply on HTTP+JSON that has a message but no code, as other SDKs of 0.3 write it. Its `type` tells its
 * reason, or else the HTTP status and the operation. Undefined for a reply that is not an agent's, such as a page of a
 * proxy.
 */
export function plainError(
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
