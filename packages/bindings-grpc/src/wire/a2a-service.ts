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
  const name = `${packageName}.${service}`;
  const types = messageTypes(table.messages, table.enums);
  const methods = table.methods.map((translation) => {
    return { ...methodOf(name, translation, types), translation, errors: table.errors };
  });
  return { version, name, methods };
}

/** A method with the messages of its names. Throws `TypeError` for one that the table does not have. */
function methodOf(
  service: string,
  { operation, name, request, response }: Pick<ProtobufMethod, 'operation' | 'name' | 'request' | 'response'>,
  types: Readonly<Record<string, MessageType>>,
): Method {
  const typeOf = (message: string): MessageType => {
    const type = message === 'Empty' ? Empty : types[message];
    if (!type) throw new TypeError(`The table of ${service} has no message ${message}`);
    return type;
  };
  return {
    operation,
    name,
    path: `/${service}/${name}`,
    isStream: operations[operation].kind === 'stream',
    request: typeOf(request),
    response: typeOf(response),
    translation: undefined,
  };
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
const unusual: Partial<Record<OperationName, readonly [request: string, response: string]>> = {
  SendStreamingMessage: ['SendMessageRequest', 'StreamResponse'],
  SubscribeToTask: ['SubscribeToTaskRequest', 'StreamResponse'],
  GetTask: ['GetTaskRequest', 'Task'],
  CancelTask: ['CancelTaskRequest', 'Task'],
  CreateTaskPushNotificationConfig: ['TaskPushNotificationConfig', 'TaskPushNotificationConfig'],
  GetTaskPushNotificationConfig: ['GetTaskPushNotificationConfigRequest', 'TaskPushNotificationConfig'],
  DeleteTaskPushNotificationConfig: ['DeleteTaskPushNotificationConfigRequest', 'Empty'],
  GetExtendedAgentCard: ['GetExtendedAgentCardRequest', 'AgentCard'],
};

/** A method for each row of the operation table. Spec: §10.3. */
export const a2aMethods: readonly Method[] = operationNames.map((operation) => {
  const [request, response] = unusual[operation] ?? [`${operation}Request`, `${operation}Response`];
  return methodOf(a2aServiceName, { operation, name: operation, request, response }, a2aTypes);
});

/** A2A 1.0. */
export const a2aService: Service = { version: PROTOCOL_VERSION, name: a2aServiceName, methods: a2aMethods };
