import type { DeleteTaskPushNotificationConfigRequest, Empty } from '@batonjs/protocol';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { lengthOf, webhooksOf } from './call/task-webhooks.ts';

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
