import type { ProtobufMethod, ProtobufVersion } from '@batonjs/bindings';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { type OperationName, operationNames, operations } from '@batonjs/protocol/operations';
import { a2aEnums, type a2aMessages, previewMessages } from '@batonjs/protocol/proto-messages';
import { type MessageType, type MessageTypes, messageTypes } from './message-types.ts';
import type { MissingMembers, Nothing } from './missing-members.ts';

/** `google.protobuf.Empty`, in which every table agrees. */
const Empty: MessageType = messageTypes({ Empty: '' }).Empty;

/** A version of A2A as a service. */
export interface Service {
  /** `Major.Minor`. */
  readonly version: string;
  /** Its full name, such as `lf.a2a.v1.A2AService`. */
  readonly name: string;
  readonly methods: readonly Method[];
}

/** One method of a service. */
export interface Method {
  readonly operation: OperationName;
  readonly name: string;
  readonly path: string;
  readonly isStream: boolean;
  readonly request: MessageType;
  /** Of a stream: one event. */
  readonly response: MessageType;
  /** How its messages become those of 1.0; undefined if they are. */
  readonly translation: ProtobufMethod | undefined;
  /** How the text of a status says an error; as its message by default. */
  readonly errors?: ProtobufVersion['errors'];
}

/** The service of another version. Throws `TypeError` for a table that cannot be read. */
export function serviceOf({ version, package: packageName, service, ...table }: ProtobufVersion): Service {
  const types = messageTypes(table.messages, table.enums);
  const typeOf = (name: string): MessageType => {
    const type = name === 'Empty' ? Empty : types[name];
    if (!type) throw new TypeError(`The table of A2A ${version} has no message ${name}`);
    return type;
  };
  const fullName = `${packageName}.${service}`;
  const methods = table.methods.map((translation): Method => {
    const { operation, name, request, response } = translation;
    const isStream = operations[operation].kind === 'stream';
    const messages = { request: typeOf(request), response: typeOf(response) };
    const path = `/${fullName}/${name}`;
    return { operation, name, path, isStream, ...messages, translation, errors: table.errors };
  });
  return { version, name: fullName, methods };
}

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
