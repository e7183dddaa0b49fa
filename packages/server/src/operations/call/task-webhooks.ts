import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { PushConfig } from '@batonjs/store';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Dependencies } from './dependencies.ts';
import { openTask } from './open-task.ts';

/** The webhooks of the server. Throws `PUSH_NOTIFICATION_NOT_SUPPORTED` if it has none. */
export function webhooksOf({ push }: Dependencies): Webhooks {
  if (!push) throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
  return push;
}

/** How many facts the log of a task has. Throws `TASK_NOT_FOUND`. */
export async function lengthOf(taskId: string, scope: string, dependencies: Dependencies): Promise<number> {
  const live = await openTask(taskId, scope, dependencies);
  dependencies.tasks.release(live);
  return live.version;
}

/** The configuration as get and list return it: without secrets if the server redacts them. */
export function redacted({ config }: PushConfig, { options }: Webhooks): TaskPushNotificationConfig {
  if (!options.redactSecrets) return config;
  const { token: _, authentication, ...open } = config;
  return { ...open, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}
