/** The type of a parameter that travels in a query string. `strings` stands there once for each of them. */
export type QueryType = 'string' | 'integer' | 'boolean' | 'strings';

/** Method and path template, such as `GET /tasks/{id}`. */
export type HttpRule = `${'GET' | 'POST' | 'DELETE'} /${string}`;

/** One operation as plain data. */
export interface Operation {
  /** One answer, or a stream of events. */
  readonly kind: 'unary' | 'stream';
  /** The first version of the protocol that has the operation, as `Major.Minor`. */
  readonly since: `${number}.${number}`;
  /**
   * When a client may send the same request again without doing something twice: `always`; `with-id`, if the request
   * names the `id` of what it creates; `with-idempotency`, if the card lists the idempotency extension.
   */
  readonly repeatable: 'always' | 'with-id' | 'with-idempotency';
  /** Method and path on HTTP+JSON. A client uses the first, a server serves all. */
  readonly http: readonly [HttpRule, ...HttpRule[]];
  /** The members of the request that a request without body carries in its query. Every request may carry `tenant` there. */
  readonly query?: Readonly<Record<string, QueryType>>;
  /** The flag of `AgentCapabilities` without which a server refuses the operation. */
  readonly capability?: 'streaming' | 'pushNotifications' | 'extendedAgentCard';
  /** Whether the result may have no members. Some servers then leave out the `result` of JSON-RPC. */
  readonly mayBeEmpty?: true;
}

const configs = '/tasks/{taskId}/pushNotificationConfigs';
const listQuery = {
  contextId: 'string',
  status: 'string',
  pageSize: 'integer',
  pageToken: 'string',
  historyLength: 'integer',
  statusTimestampAfter: 'string',
  includeArtifacts: 'boolean',
  labels: 'strings',
  skill: 'string',
  code: 'string',
  timelineLength: 'string',
} as const;

// biome-ignore format: a table reads best with one row per line
/**
 * Every A2A operation, once. Method names, routes, the methods of the server and of the client are derived from it.
 * Plain data: the schemas are in `schemas`, under the same names. Spec: §5.3.
 */
export const operations = {
  SendMessage: { kind: 'unary', since: '0.3', repeatable: 'with-idempotency', http: ['POST /message:send'] },
  SendStreamingMessage: { kind: 'stream', since: '0.3', repeatable: 'with-idempotency', http: ['POST /message:stream'], capability: 'streaming' },
  GetTask: { kind: 'unary', since: '0.3', repeatable: 'always', http: ['GET /tasks/{id}'], query: { historyLength: 'integer', currentGeneration: 'string', timelineLength: 'string' } },
  ListTasks: { kind: 'unary', since: '0.3', repeatable: 'always', http: ['GET /tasks'], query: listQuery, mayBeEmpty: true },
  CancelTask: { kind: 'unary', since: '0.3', repeatable: 'always', http: ['POST /tasks/{id}:cancel'] },
  SubscribeToTask: { kind: 'stream', since: '0.3', repeatable: 'always', http: ['POST /tasks/{id}:subscribe', 'GET /tasks/{id}:subscribe'], capability: 'streaming' },
  CreateTaskPushNotificationConfig: { kind: 'unary', since: '0.3', repeatable: 'with-id', http: [`POST ${configs}`], capability: 'pushNotifications' },
  GetTaskPushNotificationConfig: { kind: 'unary', since: '0.3', repeatable: 'always', http: [`GET ${configs}/{id}`], capability: 'pushNotifications' },
  ListTaskPushNotificationConfigs: { kind: 'unary', since: '0.3', repeatable: 'always', http: [`GET ${configs}`], query: { pageSize: 'integer', pageToken: 'string' }, capability: 'pushNotifications', mayBeEmpty: true },
  DeleteTaskPushNotificationConfig: { kind: 'unary', since: '0.3', repeatable: 'always', http: [`DELETE ${configs}/{id}`], capability: 'pushNotifications', mayBeEmpty: true },
  GetExtendedAgentCard: { kind: 'unary', since: '0.3', repeatable: 'always', http: ['GET /extendedAgentCard'], capability: 'extendedAgentCard' },
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
