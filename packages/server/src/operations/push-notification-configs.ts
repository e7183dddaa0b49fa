import type {
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  Empty,
  GetTaskPushNotificationConfigRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import type { PushConfig } from '@batonjs/store';
import { tooMany } from '../push/configs/check-config-limit.ts';
import { checkPushConfig } from '../push/configs/check-push-config.ts';
import type { PushSettings } from '../push/webhooks.ts';
import { newId } from '../timing/new-id.ts';
import type { CallContext } from './call/call-context.ts';
import type { ServiceSettings } from './call/dependencies.ts';
import { isStoreId } from './list-tasks.ts';

const maxPage = 100;

/**
 * CreateTaskPushNotificationConfig. What happens from now on is delivered; one with a known `id` takes the place of the
 * other and goes on where that was. The answer holds what was registered, secrets included. Spec: §3.1.7.
 */
export async function createTaskPushNotificationConfig(
  request: CreateTaskPushNotificationConfigRequest,
  { scope, version }: CallContext,
  settings: ServiceSettings,
): Promise<TaskPushNotificationConfig> {
  const push = pushOf(settings);
  const { taskId } = request;
  await checkPushConfig(request, push);
  const length = await lengthOf(taskId, scope, settings);
  const id = request.id ?? newId(settings.clock);
  const known = request.id === undefined ? undefined : await push.store.getPushConfig(scope, taskId, id);
  const config = { ...request, id };
  // What the one it replaces had still to deliver is not lost with it.
  const cursor = known?.cursor ?? length;
  const { queue } = settings;
  const entry = { scope, taskId, id, config, protocolVersion: version, queue, cursor };
  if (!(await push.store.putPushConfig(entry, push.configsPerTask))) throw tooMany(push.configsPerTask);
  return config;
}

/** GetTaskPushNotificationConfig, without secrets unless asked for otherwise. Spec: §3.1.8. */
export async function getTaskPushNotificationConfig(
  { taskId, id }: GetTaskPushNotificationConfigRequest,
  { scope }: CallContext,
  settings: ServiceSettings,
): Promise<TaskPushNotificationConfig> {
  const push = pushOf(settings);
  const found = await push.store.getPushConfig(scope, taskId, id);
  if (!found) throw notFound(taskId);
  return shown(found, push);
}

/** ListTaskPushNotificationConfigs, by id; at most 100 at once, 50 by default. Spec: §3.1.9. */
export async function listTaskPushNotificationConfigs(
  { taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
  { scope }: CallContext,
  settings: ServiceSettings,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const push = pushOf(settings);
  const size = Math.min(pageSize || 50, maxPage);
  const after = pageToken ? readToken(pageToken, taskId) : undefined;
  const found = await push.store.listPushConfigs(scope, taskId, { limit: size + 1, ...(after && { after }) });
  if (found.length === 0) await lengthOf(taskId, scope, settings);
  const page = found.slice(0, size);
  const last = found.length > size ? page.at(-1) : undefined;
  return {
    configs: page.map((config) => shown(config, push)),
    ...(last && { nextPageToken: toToken(taskId, last.id) }),
  };
}

/** DeleteTaskPushNotificationConfig: nothing more is delivered. One that is gone already is no error. Spec: §3.1.10. */
export async function deleteTaskPushNotificationConfig(
  { taskId, id }: DeleteTaskPushNotificationConfigRequest,
  { scope }: CallContext,
  settings: ServiceSettings,
): Promise<Empty> {
  const removed = await pushOf(settings).store.removePushConfig(scope, taskId, id);
  if (!removed) await lengthOf(taskId, scope, settings);
  return {};
}

function pushOf({ push }: ServiceSettings): PushSettings {
  if (!push) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
  return push;
}

const notFound = (taskId: string) => new A2AError('TASK_NOT_FOUND', undefined, { metadata: { taskId } });

/** How long the log of a task is. Throws `TASK_NOT_FOUND`. */
async function lengthOf(taskId: string, scope: string, { tasks }: ServiceSettings): Promise<number> {
  const live = await tasks.open(scope, taskId);
  if (!live) throw notFound(taskId);
  try {
    if (!live.state.task) throw notFound(taskId);
    return live.version;
  } finally {
    tasks.release(live);
  }
}

function shown({ config }: PushConfig, { redactSecrets }: PushSettings): TaskPushNotificationConfig {
  if (!redactSecrets) return config;
  const { token: _, authentication, ...open } = config;
  return { ...open, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}

const toToken = (taskId: string, id: string): string =>
  Buffer.from(JSON.stringify([taskId, id])).toString('base64url');

function readToken(token: string, taskId: string): string {
  try {
    const [made, id] = JSON.parse(Buffer.from(token, 'base64url').toString()) as unknown[];
    if (made === taskId && isStoreId(id)) return id;
  } catch {
    // Said below.
  }
  throw invalidParams([{ field: 'pageToken', description: 'was not given out for this task' }]);
}
