import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { type OperationName, operationNames, operations } from '@batonjs/protocol/operations';
import { a2aEnums, type a2aMessages, previewMessages } from '@batonjs/protocol/proto-messages';
import { type MessageType, type MessageTypes, messageTypes } from './message-types.ts';
import type { MissingMembers, Nothing } from './missing-members.ts';
import { Empty, type Method, type Service } from './service.ts';

/**
 * The messages of A2A 1.0 with the fields that 1.1 plans, by their names. Does not compile while the table lacks a
 * member that a message of the protocol has: it would be left out without a word.
 */
export const a2aTypes: MessageTypes<keyof typeof a2aMessages | Nothing<MissingMembers>> = messageTypes(
  previewMessages,
  a2aEnums,
);

/** The full name of the service of A2A 1.0. */
export const a2aServiceName = 'lf.a2a.v1.A2AService';

/** Requests and responses that are not named after their operation. */
const unusual: Partial<Record<OperationName, readonly [request: MessageType, response: MessageType]>> = {
  SendStreamingMessage: [a2aTypes.SendMessageRequest, a2aTypes.StreamResponse],
  SubscribeToTask: [a2aTypes.SubscribeToTaskRequest, a2aTypes.StreamResponse],
  GetTask: [a2aTypes.GetTaskRequest, a2aTypes.Task],
  CancelTask: [a2aTypes.CancelTaskRequest, a2aTypes.Task],
  CreateTaskPushNotificationConfig: [
    a2aTypes.TaskPushNotificationConfig,
    a2aTypes.TaskPushNotificationConfig,
  ],
  GetTaskPushNotificationConfig: [
    a2aTypes.GetTaskPushNotificationConfigRequest,
    a2aTypes.TaskPushNotificationConfig,
  ],
  DeleteTaskPushNotificationConfig: [a2aTypes.DeleteTaskPushNotificationConfigRequest, Empty],
  GetExtendedAgentCard: [a2aTypes.GetExtendedAgentCardRequest, a2aTypes.AgentCard],
};

/** A method for each row of the operation table. Spec: §10.3. */
export const a2aMethods: readonly Method[] = operationNames.map((operation) => {
  const named = a2aTypes as Readonly<Record<string, MessageType | undefined>>;
  const [request, response] = unusual[operation] ?? [
    named[`${operation}Request`],
    named[`${operation}Response`],
  ];
  if (!request || !response) throw new TypeError(`No message is the request or the response of ${operation}`);
  const isStream = operations[operation].kind === 'stream';
  return {
    operation,
    name: operation,
    path: `/${a2aServiceName}/${operation}`,
    isStream,
    request,
    response,
    translation: undefined,
  };
});

/** A2A 1.0. */
export const a2aService: Service = { version: PROTOCOL_VERSION, name: a2aServiceName, methods: a2aMethods };
