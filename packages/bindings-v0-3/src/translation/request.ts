import type { SendMessageConfiguration, SendMessageRequest } from '@batonjs/protocol';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03SendParams } from '../wire/objects.ts';
import { at, compact, ifObject } from '../wire/shape.ts';
import { downMessage, upMessage } from './message.ts';
import { downPushConfig, upPushConfig } from './push-config.ts';

type V03Configuration = NonNullable<V03SendParams['configuration']>;

const not = (flag: boolean | undefined) => (typeof flag === 'boolean' ? !flag : flag);

/** From 0.3. Without `blocking` there is no `returnImmediately`: both versions then wait. */
export function upSendParams(params: V03SendParams, report: ReportLoss, path: string): SendMessageRequest {
  const { message, configuration, ...rest } = params;
  return compact({
    ...rest,
    message: upMessage(message),
    configuration:
      configuration &&
      ifObject(configuration, (given) => upConfiguration(given, report, at(path, 'configuration'))),
  });
}

function upConfiguration(
  { blocking, pushNotificationConfig: webhook, ...rest }: V03Configuration,
  report: ReportLoss,
  path: string,
): SendMessageConfiguration {
  if (blocking === undefined) report('waiting-implied', at(path, 'blocking'));
  return compact({
    ...rest,
    returnImmediately: not(blocking),
    taskPushNotificationConfig: webhook && upPushConfig(webhook, report, at(path, 'pushNotificationConfig')),
  });
}

/** To 0.3. A configuration always gets `blocking`: some servers of 0.3 do not wait without it. */
export function downSendParams(request: SendMessageRequest, report: ReportLoss, path: string): V03SendParams {
  const { tenant, message, configuration, ...rest } = request;
  if (tenant) report('tenant', at(path, 'tenant'));
  return compact({
    ...rest,
    message: downMessage(message),
    configuration: configuration && downConfiguration(configuration, report, at(path, 'configuration')),
  });
}

function downConfiguration(
  { returnImmediately, taskPushNotificationConfig: webhook, ...rest }: SendMessageConfiguration,
  report: ReportLoss,
  path: string,
): V03Configuration {
  if (returnImmediately === undefined) report('waiting-implied', at(path, 'returnImmediately'));
  return compact({
    ...rest,
    blocking: !returnImmediately,
    pushNotificationConfig:
      webhook && downPushConfig(webhook, report, at(path, 'taskPushNotificationConfig')),
  });
}
