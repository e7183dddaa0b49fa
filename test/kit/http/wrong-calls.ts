import type { OperationName } from '@batonjs/protocol/operations';
import type { Reason } from './refusal.ts';
import type { Known } from './wrong-sends.ts';

/** A call of another operation than the sends that must be refused on each binding. */
export interface WrongCall {
  readonly what: string;
  readonly operation: OperationName;
  readonly params: object | ((known: Known) => object);
  readonly reason: Reason;
  readonly fields?: readonly string[] | undefined;
}

type Row = readonly [
  what: string,
  operation: OperationName,
  params: WrongCall['params'],
  reason: Reason,
  fields?: readonly string[],
];

// biome-ignore format: a table reads best with one row per line
const rows: readonly Row[] = [
  ['no id', 'GetTask', {}, 'INVALID_PARAMS', ['id']],
  ['an empty id', 'GetTask', { id: '' }, 'INVALID_PARAMS', ['id']],
  ['an id that is a number', 'GetTask', { id: 5 }, 'INVALID_PARAMS', ['id']],
  ['an id that is an object', 'GetTask', { id: { $ne: '' } }, 'INVALID_PARAMS', ['id']],
  ['an unknown task [R-GET-01]', 'GetTask', { id: 'nobody' }, 'TASK_NOT_FOUND'],
  ['the task __proto__', 'GetTask', { id: '__proto__' }, 'TASK_NOT_FOUND'],
  ['the task constructor', 'GetTask', { id: 'constructor' }, 'TASK_NOT_FOUND'],
  ['the task of another tenant', 'GetTask', ({ completed }) => ({ id: completed, tenant: 'other' }), 'TASK_NOT_FOUND'],
  ['half a surrogate pair', 'GetTask', { id: '\ud800' }, 'INVALID_PARAMS', ['id']],
  ['an id with a NUL', 'CancelTask', { id: '\0' }, 'INVALID_PARAMS', ['id']],
  ['a context of 513 characters', 'ListTasks', { contextId: 'x'.repeat(513) }, 'INVALID_PARAMS', ['contextId']],
  ['a tenant of 513 characters', 'GetTask', { id: 'x', tenant: 'x'.repeat(513) }, 'INVALID_PARAMS', ['tenant']],
  ['a historyLength below 0 [R-HLEN-04]', 'GetTask', ({ completed }) => ({ id: completed, historyLength: -1 }), 'INVALID_PARAMS', ['historyLength']],
  ['a historyLength of 1.5 [R-HLEN-04]', 'GetTask', ({ completed }) => ({ id: completed, historyLength: 1.5 }), 'INVALID_PARAMS', ['historyLength']],
  ['a historyLength that is a list', 'GetTask', ({ completed }) => ({ id: completed, historyLength: [1] }), 'INVALID_PARAMS', ['historyLength']],
  ['an unknown task and a wrong historyLength', 'GetTask', { id: 'nobody', historyLength: 'all' }, 'INVALID_PARAMS', ['historyLength']],
  ['pageSize 0 [R-LIST-06]', 'ListTasks', { pageSize: 0 }, 'INVALID_PARAMS', ['pageSize']],
  ['pageSize 101 [R-LIST-06]', 'ListTasks', { pageSize: 101 }, 'INVALID_PARAMS', ['pageSize']],
  ['pageSize -1', 'ListTasks', { pageSize: -1 }, 'INVALID_PARAMS', ['pageSize']],
  ['pageSize "x"', 'ListTasks', { pageSize: 'x' }, 'INVALID_PARAMS', ['pageSize']],
  ['pageSize 1e99', 'ListTasks', { pageSize: 1e99 }, 'INVALID_PARAMS', ['pageSize']],
  ['a page token that is none [R-LIST-10]', 'ListTasks', { pageToken: 'next' }, 'INVALID_PARAMS', ['pageToken']],
  ['a page token that is JSON', 'ListTasks', { pageToken: Buffer.from('[1,2,3]').toString('base64url') }, 'INVALID_PARAMS', ['pageToken']],
  ['a page token that is null in JSON', 'ListTasks', { pageToken: Buffer.from('null').toString('base64url') }, 'INVALID_PARAMS', ['pageToken']],
  ['a page token that is an object', 'ListTasks', { pageToken: {} }, 'INVALID_PARAMS', ['pageToken']],
  ['a page token of another query [R-LIST-10]', 'ListTasks', ({ pageToken }) => ({ pageToken }), 'INVALID_PARAMS', ['pageToken']],
  ['a page token with another status', 'ListTasks', ({ pageToken, context }) => ({ pageToken, contextId: context, status: 'TASK_STATE_FAILED' }), 'INVALID_PARAMS', ['pageToken']],
  ['a page token of another tenant', 'ListTasks', ({ pageToken, context }) => ({ pageToken, contextId: context, tenant: 'other' }), 'INVALID_PARAMS', ['pageToken']],
  ['an unknown status [R-LIST-08]', 'ListTasks', { status: 'TASK_STATE_DONE' }, 'INVALID_PARAMS', ['status']],
  ['a status of 0.3', 'ListTasks', { status: 'completed' }, 'INVALID_PARAMS', ['status']],
  ['a status by a number that there is not', 'ListTasks', { status: 99 }, 'INVALID_PARAMS', ['status']],
  ['a timestamp that is none', 'ListTasks', { statusTimestampAfter: 'yesterday' }, 'INVALID_PARAMS', ['statusTimestampAfter']],
  ['a timestamp of a day that there is not', 'ListTasks', { statusTimestampAfter: '2026-02-30T00:00:00Z' }, 'INVALID_PARAMS', ['statusTimestampAfter']],
  ['a timestamp that is a number', 'ListTasks', { statusTimestampAfter: 0 }, 'INVALID_PARAMS', ['statusTimestampAfter']],
  ['a date without a time', 'ListTasks', { statusTimestampAfter: '2026-01-01' }, 'INVALID_PARAMS', ['statusTimestampAfter']],
  ['includeArtifacts "TRUE"', 'ListTasks', { includeArtifacts: 'TRUE' }, 'INVALID_PARAMS', ['includeArtifacts']],
  ['everything wrong at once', 'ListTasks', { contextId: 1, status: 'x', pageSize: 'x', pageToken: 1, historyLength: 'x', statusTimestampAfter: 'x', includeArtifacts: 'x' }, 'INVALID_PARAMS', ['contextId', 'historyLength', 'includeArtifacts', 'pageSize', 'pageToken', 'status', 'statusTimestampAfter']],
  ['an unknown task [R-CAN-02]', 'CancelTask', { id: 'nobody' }, 'TASK_NOT_FOUND'],
  ['no id', 'CancelTask', {}, 'INVALID_PARAMS', ['id']],
  ['metadata that is text', 'CancelTask', ({ asking }) => ({ id: asking, metadata: 'please' }), 'INVALID_PARAMS', ['metadata']],
  ['a completed task [R-CAN-02]', 'CancelTask', ({ completed }) => ({ id: completed }), 'TASK_NOT_CANCELABLE'],
  ['a failed task [R-CAN-02]', 'CancelTask', ({ failed }) => ({ id: failed }), 'TASK_NOT_CANCELABLE'],
  ['an unknown task [R-SUB-05]', 'SubscribeToTask', { id: 'nobody' }, 'TASK_NOT_FOUND'],
  ['no id', 'SubscribeToTask', {}, 'INVALID_PARAMS', ['id']],
  ['a completed task [R-SUB-02]', 'SubscribeToTask', ({ completed }) => ({ id: completed }), 'UNSUPPORTED_OPERATION'],
  ['a canceled task [R-SUB-02]', 'SubscribeToTask', ({ canceled }) => ({ id: canceled }), 'UNSUPPORTED_OPERATION'],
  ['no push here [R-OP-06]', 'CreateTaskPushNotificationConfig', { taskId: 'x', url: 'https://a.example' }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['no push here [R-OP-06]', 'GetTaskPushNotificationConfig', {}, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['no push here [R-OP-06]', 'ListTaskPushNotificationConfigs', { taskId: 5 }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['no push here [R-OP-06]', 'DeleteTaskPushNotificationConfig', {}, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['no other card here [R-CARD-21]', 'GetExtendedAgentCard', {}, 'UNSUPPORTED_OPERATION'],
];

export const wrongCalls: readonly WrongCall[] = rows.map(([what, operation, params, reason, fields]) => ({
  what,
  operation,
  params,
  reason,
  fields,
}));
