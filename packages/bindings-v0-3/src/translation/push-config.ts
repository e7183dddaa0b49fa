import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import type { V03PushConfig, V03TaskPushConfig } from '../wire/objects.ts';
import type { Say } from './loss.ts';
import { at, compact, ifObject, isObject } from './shape.ts';

/** From 0.3, without its task. */
export const upPushConfig = (config: V03PushConfig, say: Say, path: string): TaskPushNotificationConfig =>
  ifObject(config, ({ authentication, ...rest }) => {
    if (!isObject(authentication)) return compact({ ...rest, authentication });
    const { schemes, ...credentials } = authentication;
    const [scheme, ...others] = Array.isArray(schemes) ? schemes : [];
    if (scheme === undefined || others.length > 0) say('authentication-schemes', at(path, 'authentication'));
    return scheme === undefined ? rest : { ...rest, authentication: { scheme, ...credentials } };
  });

/** To 0.3, without its task. */
export function downPushConfig(config: TaskPushNotificationConfig, say: Say, path: string): V03PushConfig {
  const { tenant, taskId: _, authentication, ...rest } = config;
  if (tenant) say('tenant', at(path, 'tenant'));
  if (!authentication) return rest;
  const { scheme, ...credentials } = authentication;
  return { ...rest, authentication: { schemes: [scheme], ...credentials } };
}

/** From 0.3. */
export const upTaskPushConfig = (
  config: V03TaskPushConfig,
  say: Say,
  path: string,
): TaskPushNotificationConfig =>
  ifObject(config, ({ taskId, pushNotificationConfig }) =>
    compact({
      ...upPushConfig(pushNotificationConfig, say, at(path, 'pushNotificationConfig')),
      taskId,
    }),
  );

/** To 0.3. */
export const downTaskPushConfig = (
  config: TaskPushNotificationConfig,
  say: Say,
  path: string,
): V03TaskPushConfig => ({
  taskId: config.taskId ?? '',
  pushNotificationConfig: downPushConfig(config, say, path),
});
