import type { CreateTaskPushNotificationConfigRequest, TaskPushNotificationConfig } from '@batonjs/protocol';
import { newId } from '../base/system/new-id.ts';
import { tooMany } from '../webhooks/configs/check-config-limit.ts';
import { checkPushConfig } from '../webhooks/configs/check-push-config.ts';
import { pushVersion } from '../webhooks/configs/push-version.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { lengthOf, webhooksOf } from './call/task-webhooks.ts';

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
