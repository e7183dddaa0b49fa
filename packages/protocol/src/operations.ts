import type * as z from 'zod';
import type { schemas } from './schemas.ts';

/** The type of a parameter that travels in a query string. */
export type QueryType = 'string' | 'integer' | 'boolean';

/** One operation as plain data. */
export interface Operation {
  /** One answer, or a stream of events. */
  readonly kind: 'unary' | 'stream';
  /** Method and path on HTTP+JSON; the first is what a client uses, a server serves all. */
  readonly http: readonly [HttpRule, ...HttpRule[]];
  /** The members of the request that a request without body carries in its query; `tenant` goes without saying. */
  readonly query?: Readonly<Record<string, QueryType>>;
  /** The flag of `AgentCapabilities` without which the operation is refused. */
  readonly capability?: 'streaming' | 'pushNotifications' | 'extendedAgentCard';
}

/** Method and path template, such as `GET /tasks/{id}`. */
export type HttpRule = `${'GET' | 'POST' | 'DELETE'} /${string}`;

const configs = '/tasks/{taskId}/pushNotificationConfigs';
const listQuery = {
  contextId: 'string',
  status: 'string',
  pageSize: 'integer',
  pageToken: 'string',
  historyLength: 'integer',
  statusTimestampAfter: 'string',
  includeArtifacts: 'boolean',
} as const;

// biome-ignore format: a table reads best with one row per line
/**
 * Every A2A operation, once: method names, routes, the server's service and the client's methods are derived from it.
 * Plain data; the schemas are in `schemas`, under the same names. Spec: §5.3.
 */
export const operations = {
  SendMessage: { kind: 'unary', http: ['POST /message:send'] },
  SendStreamingMessage: { kind: 'stream', http: ['POST /message:stream'], capability: 'streaming' },
  GetTask: { kind: 'unary', http: ['GET /tasks/{id}'], query: { historyLength: 'integer' } },
  ListTasks: { kind: 'unary', http: ['GET /tasks'], query: listQuery },
  CancelTask: { kind: 'unary', http: ['POST /tasks/{id}:cancel'] },
  SubscribeToTask: { kind: 'stream', http: ['POST /tasks/{id}:subscribe', 'GET /tasks/{id}:subscribe'], capability: 'streaming' },
  CreateTaskPushNotificationConfig: { kind: 'unary', http: [`POST ${configs}`], capability: 'pushNotifications' },
  GetTaskPushNotificationConfig: { kind: 'unary', http: [`GET ${configs}/{id}`], capability: 'pushNotifications' },
  ListTaskPushNotificationConfigs: { kind: 'unary', http: [`GET ${configs}`], query: { pageSize: 'integer', pageToken: 'string' }, capability: 'pushNotifications' },
  DeleteTaskPushNotificationConfig: { kind: 'unary', http: [`DELETE ${configs}/{id}`], capability: 'pushNotifications' },
  GetExtendedAgentCard: { kind: 'unary', http: ['GET /extendedAgentCard'], capability: 'extendedAgentCard' },
} as const satisfies Record<string, Operation>;

/** The table's type; its keys are the operations' names. */
export type Operations = typeof operations;

/** The specification's name of an operation, which is also its JSON-RPC method. */
export type OperationName = keyof Operations;

/** The names of all operations, in the specification's order. */
export const operationNames = Object.keys(operations) as readonly OperationName[];

/** Whether a word is the name of an operation. */
export const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name);

/** The name as a method: `SendMessage` → `sendMessage`. */
export const methodName = <Name extends OperationName>(name: Name) =>
  (name.charAt(0).toLowerCase() + name.slice(1)) as Uncapitalize<Name>;

/** The request of an operation. */
export type Params<Name extends OperationName> = z.infer<(typeof schemas)[Name]['params']>;

/** The result of an operation; of a stream, one event. */
export type Result<Name extends OperationName> = z.infer<(typeof schemas)[Name]['result']>;

/** What an operation returns: a promise, or a stream of events. */
export type Reply<Name extends OperationName> = Operations[Name]['kind'] extends 'stream'
  ? AsyncIterable<Result<Name>>
  : Promise<Result<Name>>;

/** The eleven operations as methods. A server implements it; a client is one. */
export type A2AService<Context> = {
  [Name in OperationName as Uncapitalize<Name>]: (params: Params<Name>, context: Context) => Reply<Name>;
};
