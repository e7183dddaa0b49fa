import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { at, codec, compact, type Loose, present, text } from '../wire/codec.ts';
import type { V03PushConfig, V03TaskPushConfig } from '../wire/objects.ts';

/** A webhook without its task. */
export const pushConfig = codec<V03PushConfig, TaskPushNotificationConfig>({
  decode({ authentication, ...rest }, { report }, path) {
    if (!isObject(authentication)) return compact({ ...rest, authentication });
    const { schemes, ...credentials } = authentication;
    const [scheme, ...others] = Array.isArray(schemes) ? schemes : [];
    if (scheme === undefined || others.length > 0)
      report('authentication-schemes', at(path, 'authentication'));
    return scheme === undefined ? rest : { ...rest, authentication: { scheme, ...credentials } };
  },
  encode({ tenant, taskId: _, authentication, ...rest }, { report }, path) {
    if (tenant) report('tenant', at(path, 'tenant'));
    if (!authentication) return rest;
    const { scheme, ...credentials } = authentication;
    return { ...rest, authentication: { schemes: [scheme], ...credentials } };
  },
});

/** A webhook with its task; in protocol buffers, with the resource name of both. */
export const taskPushConfig = codec<V03TaskPushConfig, TaskPushNotificationConfig>({
  decode(given: Loose, way, path) {
    const { taskId, pushNotificationConfig } = way.isLenient ? spelled(given) : given;
    const config = pushConfig.decode(pushNotificationConfig, way, at(path, 'pushNotificationConfig'));
    return compact({ ...config, taskId });
  },
  encode(newer, way, path) {
    const { taskId = '' } = newer;
    const pushNotificationConfig = pushConfig.encode(newer, way, path);
    if (!way.isProto) return { taskId, pushNotificationConfig };
    return { name: configName(taskId, pushNotificationConfig.id), pushNotificationConfig };
  },
});

/** The resource name of a webhook. */
export const configName = (taskId: unknown, id: unknown = '') =>
  `tasks/${taskId}/pushNotificationConfigs/${id}`;

/** A webhook with its task: nested (JSON-RPC), by resource name (protocol buffers), or in a `config`. */
function spelled({
  name,
  parent = name,
  configId,
  taskId,
  pushNotificationConfig,
  config,
  ...flat
}: Loose): Loose {
  if (isObject(config)) return spelled({ name: parent, configId, taskId, ...present(config) });
  const [, inName, id] = /^tasks\/([^/]+)(?:\/pushNotificationConfigs\/(.+))?$/.exec(String(name)) ?? [];
  const webhook = isObject(pushNotificationConfig) ? present(pushNotificationConfig) : flat;
  return {
    taskId: text(taskId, inName),
    pushNotificationConfig: compact({ ...webhook, id: text(webhook.id, id, configId) }),
  };
}
