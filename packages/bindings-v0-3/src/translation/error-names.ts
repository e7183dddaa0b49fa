import { type ErrorReason, errorTable } from '@batonjs/protocol/errors';

/** Errors by the names of the specification. SDKs in Python classify by them: `type` on HTTP+JSON, the text of gRPC. */
const named: readonly (readonly [ErrorReason, string])[] = [
  ['TASK_NOT_FOUND', 'TaskNotFoundError'],
  ['TASK_NOT_CANCELABLE', 'TaskNotCancelableError'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', 'PushNotificationNotSupportedError'],
  ['UNSUPPORTED_OPERATION', 'UnsupportedOperationError'],
  ['CONTENT_TYPE_NOT_SUPPORTED', 'ContentTypeNotSupportedError'],
  ['INVALID_AGENT_RESPONSE', 'InvalidAgentResponseError'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', 'ExtendedAgentCardNotConfiguredError'],
  ['EXTENSION_SUPPORT_REQUIRED', 'ExtensionSupportRequiredError'],
  ['VERSION_NOT_SUPPORTED', 'VersionNotSupportedError'],
  ['PARSE_ERROR', 'JSONParseError'],
  ['INVALID_REQUEST', 'InvalidRequestError'],
  ['METHOD_NOT_FOUND', 'MethodNotFoundError'],
  ['INVALID_PARAMS', 'InvalidParamsError'],
  ['INTERNAL_ERROR', 'InternalError'],
];
const names = new Map(named);

const reasons = new Map<unknown, ErrorReason>([
  ...named.map(([reason, name]) => [name, reason] as const),
  // As 0.3 calls it.
  ['AuthenticatedExtendedCardNotConfiguredError', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
]);

/** The name of an error. An error that the specification does not have is called as the one with its code. */
export function nameOf(reason: ErrorReason): string {
  const code = errorTable[reason].jsonRpc;
  const alike = named.find(([candidate]) => errorTable[candidate].jsonRpc === code);
  return names.get(reason) ?? alike?.[1] ?? 'InternalError';
}

/** The error of a name; undefined for text that is none. */
export const reasonNamed = (name: unknown): ErrorReason | undefined => reasons.get(name);
