import type { SendMessageConfiguration, SendMessageRequest } from '@batonjs/protocol';
import type { V03SendParams } from '../wire/objects.ts';
import type { Say } from './loss.ts';
import { downMessage, upMessage } from './message.ts';
import { downPushConfig, upPushConfig } from './push-config.ts';
import { at, compact, ifObject } from './shape.ts';

type V03Configuration = NonNullable<V03SendParams['configuration']>;

const not = (flag: boolean | undefined) => (typeof flag === 'boolean' ? !flag : flag);

/** From 0.3. Where `blocking` is left out, `returnImmediately` is too: both versions then wait. */
export function upSendParams(params: V03SendParams, say: Say, path: string): SendMessageRequest {
  const { message, configuration, ...rest } = params;
  return compact({
    ...rest,
    message: upMessage(message),
    configuration:
      configuration &&
      ifObject(configuration, (given) => upConfiguration(given, say, at(path, 'configuration'))),
  });
}

function upConfiguration(
  { blocking, pushNotificationConfig: webhook, ...rest }: V03Configuration,
  say: Say,
  path: string,
): SendMessageConfiguration {
  if (blocking === undefined) say('waiting-implied', at(path, 'blocking'));
  return compact({
    ...rest,
    returnImmediately: not(blocking),
    taskPushNotificationConfig: webhook && upPushConfig(webhook, say, at(path, 'pushNotificationConfig')),
  });
}

/** To 0.3. `blocking` is said whenever there is a configuration: some servers of 0.3 do not wait without it. */
export function downSendParams(request: SendMessageRequest, say: Say, path: string): V03SendParams {
  const { tenant, message, configuration, ...rest } = request;
  if (tenant) say('tenant', at(path, 'tenant'));
  return compact({
    ...rest,
    message: downMessage(message),
    configuration: configuration && downConfiguration(configuration, say, at(path, 'configuration')),
  });
}

function downConfiguration(
  { returnImmediately, taskPushNotificationConfig: webhook, ...rest }: SendMessageConfiguration,
  say: Say,
  path: string,
): V03Configuration {
  if (returnImmediately === undefined) say('waiting-implied', at(path, 'returnImmediately'));
  return compact({
    ...rest,
    blocking: !returnImmediately,
    pushNotificationConfig: webhook && downPushConfig(webhook, say, at(path, 'taskPushNotificationConfig')),
  });
}
