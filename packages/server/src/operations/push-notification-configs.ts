import type {
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  Empty,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@batonjs/protocol';
import { newId } from '../base/system/new-id.ts';
import { invalidPageToken, isStoreId, toToken, valuesIn } from '../base/token.ts';
import { checkPushConfig, pushVersion, tooMany } from '../webhooks/configs/check-push-config.ts';
import {
  type CallContext,
  type Dependencies,
  lengthOf,
  redacted,
  taskNotFound,
  webhooksOf,
} from './call/call-context.ts';

/**
 * CreateTaskPushNotificationConfig: registers a webhook for the updates from now on. One with a known `id` replaces the
 * other and continues where that one was. Returns the configuration as registered, secrets included. Spec: §3.1.7.
 */
export async function createTaskPushNotificationConfig(
  request: CreateTaskPushNotificationConfigRequest,
  context: CallContext,
  dependencies: Dependencies,
): Promise<TaskPushNotificationConfig> {
  const { scope } = context;
  const push = webhooksOf(dependencies);
  const { taskId } = request;
  await checkPushConfig(request, push);
  const length = await lengthOf(taskId, scope, dependencies);
  const id = request.id ?? newId(dependencies.clock);
  const known = request.id === undefined ? undefined : await push.store.getPushConfig(scope, taskId, id);
  const config = { ...request, id };
  // Updates that the replaced webhook had not got yet are delivered to this one.
  const cursor = known?.cursor ?? length;
  const { queue } = dependencies.options;
  const entry = { scope, taskId, id, config, protocolVersion: pushVersion(context), queue, cursor };
  const { configsPerTask } = push.options;
  if (!(await push.store.putPushConfig(entry, configsPerTask))) throw tooMany(configsPerTask);
  return config;
}

/**
 * DeleteTaskPushNotificationConfig: nothing more is delivered to the webhook. Deleting one that does not exist
 * succeeds, too. Spec: §3.1.10.
 */
export async function deleteTaskPushNotificationConfig(
  { taskId, id }: DeleteTaskPushNotificationConfigRequest,
  { scope }: CallContext,
  dependencies: Dependencies,
): Promise<Empty> {
  const removed = await webhooksOf(dependencies).store.removePushConfig(scope, taskId, id);
  if (!removed) await lengthOf(taskId, scope, dependencies);
  return {};
}

/** GetTaskPushNotificationConfig, without secrets unless `push.redactSecrets` is false. Spec: §3.1.8. */
export async function getTaskPushNotificationConfig(
  { taskId, id }: GetTaskPushNotificationConfigRequest,
  { scope }: CallContext,
  dependencies: Dependencies,
): Promise<TaskPushNotificationConfig> {
  const push = webhooksOf(dependencies);
  const found = await push.store.getPushConfig(scope, taskId, id);
  if (!found) throw taskNotFound(taskId);
  return redacted(found, push);
}

const maxPage = 100;

/** ListTaskPushNotificationConfigs, ordered by id; at most 100 in a page, 50 by default. Spec: §3.1.9. */
export async function listTaskPushNotificationConfigs(
  { taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
  { scope }: CallContext,
  dependencies: Dependencies,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const push = webhooksOf(dependencies);
  const size = Math.min(pageSize || 50, maxPage);
  const after = pageToken ? readToken(pageToken, taskId) : undefined;
  const found = await push.store.listPushConfigs(scope, taskId, { limit: size + 1, ...(after && { after }) });
  if (found.length === 0) await lengthOf(taskId, scope, dependencies);
  const page = found.slice(0, size);
  const last = found.length > size ? page.at(-1) : undefined;
  return {
    configs: page.map((config) => redacted(config, push)),
    ...(last && { nextPageToken: toToken(taskId, last.id) }),
  };
}

function readToken(token: string, taskId: string): string {
  const [made, id] = valuesIn(token);
  if (made === taskId && isStoreId(id)) return id;
  throw invalidPageToken('was not made for this task');
}
