import type { GetTaskPushNotificationConfigRequest, TaskPushNotificationConfig } from '@batonjs/protocol';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { taskNotFound } from './call/open-task.ts';
import { redacted, webhooksOf } from './call/task-webhooks.ts';

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
