import type { SendMessageConfiguration, SendMessageRequest, StreamResponse } from '@batonjs/protocol';
import type { A2AError } from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import { at, type Codec, codec, compact, type Loose, object, present, text } from '../wire/codec.ts';
import type { Loss, ReportLoss } from '../wire/loss.ts';
import type { V03Error, V03Event, V03SendParams } from '../wire/objects.ts';
import { downError, upError } from './error.ts';
import { part } from './part.ts';
import { pushConfig, taskPushConfig } from './push-config.ts';
import { card } from './security.ts';
import { artifact, artifactUpdate, message, status, statusUpdate, task } from './task.ts';

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

export const sendParams = object<V03SendParams, SendMessageRequest>({
  members: { message, configuration },
  spellings: { request: 'message' },
  write({ tenant, ...older }, { configuration }, way, path) {
    if (tenant) way.report('tenant', at(path, 'tenant'));
    return way.isProto && !configuration ? { ...older, configuration: { blocking: true } } : older;
  },
});

/** The members of an event of 1.0, each with its `kind` in 0.3. */
const members = [
  { kind: 'task', name: 'task', codec: task },
  { kind: 'message', name: 'message', codec: message },
  { kind: 'status-update', name: 'statusUpdate', codec: statusUpdate },
  { kind: 'artifact-update', name: 'artifactUpdate', codec: artifactUpdate },
] as const;

/** One event of a stream, the body of a webhook, or the answer to a message. One of an unknown kind has no members. */
export const event: Codec<V03Event, StreamResponse> = {
  decode(given, way, path) {
    if (!isObject(given)) throw new TypeError(`${path} is no object`);
    const [kind, value] = way.isLenient ? unwrapped(present(given)) : [given.kind, given];
    const member = members.find((one) => one.kind === kind);
    return (member ? { [member.name]: member.codec.decode(value, way, path) } : {}) as StreamResponse;
  },
  encode(newer, way, path) {
    const member = members.find(({ name }) => name in newer) ?? members[3];
    const codec: Codec<unknown, unknown> = member.codec;
    const value = codec.encode(Object(newer)[member.name], way, way.isProto ? member.name : path);
    return (way.isProto ? { [member.name]: value } : value) as V03Event;
  },
};

/** The kind of an event and the event: in the member of its kind, or with its `kind`, or with the members of one kind. */
function unwrapped(given: Loose): [kind: string | undefined, event: Loose] {
  const { task, message, msg, statusUpdate, artifactUpdate, kind, type, ...event } = given;
  const named = text(kind, type);
  if (named !== undefined) return [named, event];
  const wrapped = Object.entries({ task, message: message ?? msg, statusUpdate, artifactUpdate });
  for (const [name, value] of wrapped)
    if (isObject(value)) return [members.find((member) => member.name === name)?.kind, value];
  if (event.status) return [event.taskId ? 'status-update' : 'task', event];
  if (event.artifact) return ['artifact-update', event];
  return [(event.parts ?? event.content) ? 'message' : undefined, event];
}

/** A value in the other version, and the losses of the translation. */
export interface Translated<Value> {
  readonly value: Value;
  readonly losses: readonly Loss[];
}

/** One kind of object in both versions. `up` is from 0.3 to 1.0. Both functions are pure. */
export interface Translation<Older, Newer> {
  up(older: Older): Translated<Newer>;
  /** `isLast`, of events: nothing follows in this stream. By default it is whether the task ended. */
  down(newer: Newer, isLast?: boolean): Translated<Older>;
}

const translation = <Older, Newer>(codec: Codec<Older, Newer>): Translation<Older, Newer> => ({
  up: (older) => collect((report) => codec.decode(older, { report }, '')),
  down: (newer, isLast) => collect((report) => codec.encode(newer, { report, isLast }, '')),
});

function collect<Value>(translate: (report: ReportLoss) => Value): Translated<Value> {
  const losses: Loss[] = [];
  return { value: translate((code, path) => losses.push({ code, path })), losses };
}

/** Errors lose nothing. */
const error: Translation<V03Error, A2AError> = {
  up: (older) => ({ value: upError(older), losses: [] }),
  down: (newer) => ({ value: downError(newer), losses: [] }),
};

/**
 * Translations of every object of the protocol between A2A 0.3 and 1.0. They take valid values. For example,
 * `translations.event.up` reads the body of a webhook.
 */
export const translations = {
  part: translation(part),
  message: translation(message),
  artifact: translation(artifact),
  status: translation(status),
  task: translation(task),
  statusUpdate: translation(statusUpdate),
  artifactUpdate: translation(artifactUpdate),
  event: translation(event),
  sendRequest: translation(sendParams),
  pushConfig: translation(taskPushConfig),
  card: translation(card),
  error,
} as const;
