import { httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { type OperationName, operationNames } from '@batonjs/protocol/operations';
import { between, pick } from '../workload/random.ts';
import { oddUrl } from './mutate/odd-url.ts';
import type { RawRequest } from './request.ts';

export type HttpBindingName = 'JSONRPC' | 'HTTP+JSON';

/** What a server has while it is asked. */
export interface Known {
  readonly tasks: readonly [string, ...string[]];
  readonly contextId: string;
  readonly pageToken: string;
  readonly webhook: { readonly taskId: string; readonly id: string; readonly url: string };
  /** A port of this machine that no webhook may be delivered to. */
  readonly forbiddenPort: number;
}

const clients = { JSONRPC: jsonRpcClient, 'HTTP+JSON': httpJsonClient };

/** A call that the server must understand. */
export function validCall(random: () => number, known: Known) {
  const operation = random() < 0.4 ? 'SendMessage' : pick(random, operationNames);
  return { operation, params: paramsOf(random, operation, known) };
}

/** A request that the server must understand. */
export function validRequest(
  random: () => number,
  binding: HttpBindingName,
  known: Known,
): RawRequest & { readonly operation: OperationName } {
  const { operation, params } = validCall(random, known);
  const call = { operation, params, id: pick(random, [1, 'r', 0, -7, '']) };
  const { url, method, headers, body } = clients[binding].encodeCall(call, 'http://127.0.0.1');
  const { pathname, search } = new URL(url);
  return {
    operation,
    method,
    target: pathname + search,
    headers: [['host', '127.0.0.1'], ['a2a-version', '1.0'], ...Object.entries(headers)],
    body: body === undefined ? undefined : Buffer.from(body as string),
    changes: [],
    isMangled: false,
  };
}

function paramsOf(random: () => number, operation: OperationName, known: Known): Record<string, unknown> {
  const id = pick(random, known.tasks);
  const tenant = random() < 0.05 ? { tenant: 'a' } : {};
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return { ...tenant, ...send(random, known) };
    case 'ListTasks':
      return { ...tenant, ...list(random, known) };
    case 'GetTask':
      return { ...tenant, id, ...(random() < 0.5 && { historyLength: pick(random, [0, 1, 2, 3, 100]) }) };
    case 'CancelTask':
      return { ...tenant, id, metadata: { why: ['no', 'need'] } };
    case 'SubscribeToTask':
      return { ...tenant, id };
    case 'CreateTaskPushNotificationConfig':
      return { taskId: id, ...webhook(random, known) };
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
      return { taskId: known.webhook.taskId, id: known.webhook.id };
    case 'ListTaskPushNotificationConfigs':
      return { taskId: known.webhook.taskId, pageSize: between(random, 1, 100) };
    case 'GetExtendedAgentCard':
      return tenant;
  }
}

const orders = ['ask', 'auth', 'fail', 'hold', 'chunks', 'message', 'hello', 'hello', 'hello'];

function send(random: () => number, known: Known): Record<string, unknown> {
  const parts: Record<string, unknown>[] = [{ text: pick(random, orders) }];
  if (random() < 0.1)
    parts.push({ text: pick(random, ['x', '\0', '"', '€', '😀']).repeat(between(random, 1, 40_000)) });
  if (random() < 0.2)
    parts.push({ data: { deep: [1, { a: null }], text: 'ä€😀' }, mediaType: 'application/json' });
  if (random() < 0.2) parts.push({ raw: 'aGVsbG8=', filename: 'hello.txt', mediaType: 'text/plain' });
  if (random() < 0.1) parts.push({ url: 'https://files.example/a.txt', mediaType: 'text/plain' });
  const target = random();
  return {
    message: {
      messageId: `m-${between(random, 0, 1e9)}`,
      role: 'ROLE_USER',
      parts,
      ...(target < 0.4 && { taskId: pick(random, known.tasks) }),
      ...(target > 0.4 && target < 0.55 && { contextId: known.contextId }),
      ...(random() < 0.1 && { referenceTaskIds: [pick(random, known.tasks)] }),
      ...(random() < 0.1 && { extensions: ['https://fuzz.example/extension'], metadata: { a: 1 } }),
    },
    ...(random() < 0.6 && { configuration: configuration(random, known) }),
    ...(random() < 0.1 && { metadata: { trace: 'x' } }),
  };
}

const configuration = (random: () => number, known: Known) => ({
  ...(random() < 0.6 && { returnImmediately: random() < 0.8 }),
  ...(random() < 0.3 && { historyLength: pick(random, [0, 1, 2, 3, 100]) }),
  ...(random() < 0.2 && { acceptedOutputModes: ['text/*', 'application/json'] }),
  ...(random() < 0.1 && { taskPushNotificationConfig: webhook(random, known) }),
});

const webhook = (random: () => number, known: Known) => ({
  url: random() < 0.3 ? oddUrl(random, known.forbiddenPort) : known.webhook.url,
  ...(random() < 0.3 && { id: `w-${between(random, 0, 5)}` }),
  ...(random() < 0.3 && { token: 'secret' }),
  ...(random() < 0.3 && { authentication: { scheme: 'Bearer', credentials: 'secret' } }),
});

const list = (random: () => number, known: Known) => ({
  ...(random() < 0.4 && { contextId: known.contextId }),
  ...(random() < 0.3 && { status: pick(random, ['TASK_STATE_COMPLETED', 'TASK_STATE_INPUT_REQUIRED']) }),
  pageSize: pick(random, [1, 2, 3, 5, 100]),
  ...(random() < 0.2 && { contextId: known.contextId, pageSize: 1, pageToken: known.pageToken }),
  ...(random() < 0.3 && { historyLength: pick(random, [0, 1, 2, 3, 100]) }),
  ...(random() < 0.2 && { statusTimestampAfter: '2026-01-01T00:00:00.000Z' }),
  ...(random() < 0.3 && { includeArtifacts: true }),
});
