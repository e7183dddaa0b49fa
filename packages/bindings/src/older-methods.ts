import type { OperationName, Operations } from '@batonjs/protocol/operations';

/** The operations that A2A 0.3 has. */
export type OlderOperationName = {
  [Name in OperationName]: Operations[Name]['since'] extends '0.3' ? Name : never;
}[OperationName];

/** The JSON-RPC method of each operation in A2A 0.3; undefined for an operation that only HTTP+JSON has. Spec: 0.3 §7. */
const methods: Readonly<Record<OlderOperationName, string | undefined>> = {
  SendMessage: 'message/send',
  SendStreamingMessage: 'message/stream',
  GetTask: 'tasks/get',
  ListTasks: undefined,
  CancelTask: 'tasks/cancel',
  SubscribeToTask: 'tasks/resubscribe',
  CreateTaskPushNotificationConfig: 'tasks/pushNotificationConfig/set',
  GetTaskPushNotificationConfig: 'tasks/pushNotificationConfig/get',
  ListTaskPushNotificationConfigs: 'tasks/pushNotificationConfig/list',
  DeleteTaskPushNotificationConfig: 'tasks/pushNotificationConfig/delete',
  GetExtendedAgentCard: 'agent/getAuthenticatedExtendedCard',
};

const operationOf = new Map(Object.entries(methods).map(([operation, method]) => [method, operation]));

/** The JSON-RPC method of an operation in A2A 0.3, if it has one. */
export const olderMethodOf = (operation: OperationName): string | undefined =>
  Object.hasOwn(methods, operation) ? methods[operation as OlderOperationName] : undefined;

/** The operation that a JSON-RPC method of A2A 0.3 stands for; undefined for any other word. */
export const operationOfOlderMethod = (method: string): OlderOperationName | undefined =>
  operationOf.get(method) as OlderOperationName | undefined;
