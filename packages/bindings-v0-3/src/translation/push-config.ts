import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03PushConfig, V03TaskPushConfig } from '../wire/objects.ts';
import { at, compact, ifObject, isObject } from '../wire/shape.ts';

/** From 0.3, without its task. */
export const upPushConfig = (
  config: V03PushConfig,
  report: ReportLoss,
  path: string,
): TaskPushNotificationConfig =>
  ifObject(config, ({ authentication, ...rest }) => {
    if (!isObject(authentication)) return compact({ ...rest, authentication });
    const { schemes, ...credentials } = authentication;
    const [scheme, ...others] = Array.isArray(schemes) ? schemes : [];
    if (scheme === undefined || others.length > 0)
      report('authentication-schemes', at(path, 'authentication'));
    return scheme === undefined ? rest : { ...rest, authentication: { scheme, ...credentials } };
  });

/** To 0.3, without its task. */
export function downPushConfig(
  config: TaskPushNotificationConfig,
  report: ReportLoss,
  path: string,
): V03PushConfig {
  const { tenant, taskId: _, authentication, ...rest } = config;
  if (tenant) report('tenant', at(path, 'tenant'));
  if (!authentication) return rest;
  const { scheme, ...credentials } = authentication;
  return { ...rest, authentication: { schemes: [scheme], ...credentials } };
}

/** From 0.3. */
export const upTaskPushConfig = (
  config: V03TaskPushConfig,
  report: ReportLoss,
  path: string,
): TaskPushNotificationConfig =>
  ifObject(config, ({ taskId, pushNotificationConfig }) =>
    compact({
      ...upPushConfig(pushNotificationConfig, report, at(path, 'pushNotificationConfig')),
      taskId,
    }),
  );

/** To 0.3. */
export const downTaskPushConfig = (
  config: TaskPushNotificationConfig,
  report: ReportLoss,
  path: string,
): V03TaskPushConfig => ({
  taskId: config.taskId ?? '',
  pushNotificationConfig: downPushConfig(config, report, path),
});
