import type { SendMessageConfiguration, SendMessageRequest } from '@batonjs/protocol';
import { codec, object } from '../wire/codec.ts';
import type { V03SendParams } from '../wire/objects.ts';
import { at, compact, type Loose } from '../wire/shape.ts';
import { message } from './message.ts';
import { pushConfig } from './push-config.ts';

type V03Configuration = NonNullable<V03SendParams['configuration']>;

/** The form of the answer. Protocol buffers omit a `blocking` that is false; in JSON-RPC, both versions wait without it. */
const configuration = codec<V03Configuration, SendMessageConfiguration>({
  decode(given: Loose, way, path) {
    const {
      pushNotification,
      pushNotificationConfig,
      blocking = way.isProto ? false : undefined,
      ...rest
    } = given;
    const webhook = pushNotificationConfig ?? (way.isLenient ? pushNotification : undefined);
    if (blocking === undefined) way.report('waiting-implied', at(path, 'blocking'));
    return compact({
      ...rest,
      returnImmediately: typeof blocking === 'boolean' ? !blocking : blocking,
      taskPushNotificationConfig:
        webhook && pushConfig.decode(webhook, way, at(path, 'pushNotificationConfig')),
    });
  },
  /** Always with `blocking`: some servers of 0.3 do not wait without it. */
  encode({ returnImmediately, taskPushNotificationConfig: newer, ...rest }, way, path) {
    if (returnImmediately === undefined) way.report('waiting-implied', at(path, 'returnImmediately'));
    const webhook = newer && pushConfig.encode(newer, way, at(path, 'taskPushNotificationConfig'));
    const name = way.isProto ? 'pushNotification' : 'pushNotificationConfig';
    return compact({ ...rest, blocking: !returnImmediately, [name]: webhook });
  },
});

/** The params of a send. */
export const sendParams = object<V03SendParams, SendMessageRequest>({
  members: { message, configuration },
  spellings: { request: 'message' },
  write({ tenant, ...older }, { configuration }, way, path) {
    if (tenant) way.report('tenant', at(path, 'tenant'));
    return way.isProto && !configuration ? { ...older, configuration: { blocking: true } } : older;
  },
});
