import type { Reason } from './refusal.ts';

/** Tasks that are there while the table runs. */
export interface Known {
  readonly completed: string;
  readonly failed: string;
  readonly canceled: string;
  readonly asking: string;
  readonly holding: string;
  /** The context of `asking`. */
  readonly context: string;
  /** A page token that was given out for this context. */
  readonly pageToken: string;
}

/** Parameters of SendMessage that must be refused on each binding. */
export interface WrongSend {
  readonly what: string;
  readonly params: object | ((known: Known) => object);
  readonly reason: Reason;
  readonly fields?: readonly string[];
}

let ids = 0;
/** A message that is right but for the given members. */
export const said = (wrong: object = {}) => ({
  messageId: `bad-${++ids}`,
  role: 'ROLE_USER',
  parts: [{ text: 'hello' }],
  ...wrong,
});
const send = (wrong: object) => ({ message: said(wrong) });
const part = (...parts: unknown[]) => send({ parts });
const configured = (configuration: unknown) => ({ message: said(), configuration });

type Row = readonly [
  what: string,
  params: WrongSend['params'],
  fields: readonly string[] | Reason,
  alsoFields?: readonly string[],
];

// biome-ignore format: a table reads best with one row per line
const rows: readonly Row[] = [
  ['no message', {}, ['message']],
  ['a message that is null', { message: null }, ['message']],
  ['a message that is text', { message: 'hello' }, ['message']],
  ['a message that is an array', { message: [said()] }, ['message']],
  ['an empty message', { message: {} }, ['message.messageId', 'message.parts', 'message.role']],
  ['a messageId that is an object', send({ messageId: { a: 1 } }), ['message.messageId']],
  ['a messageId that is a number', send({ messageId: 7 }), ['message.messageId']],
  ['an empty messageId', send({ messageId: '' }), ['message.messageId']],
  ['a messageId that is null', send({ messageId: null }), ['message.messageId']],
  ['no role', send({ role: undefined }), ['message.role']],
  ['role king', send({ role: 'king' }), ['message.role']],
  ['role user, as in 0.3', send({ role: 'user' }), ['message.role']],
  ['ROLE_AGENT', send({ role: 'ROLE_AGENT' }), ['message.role']],
  ['ROLE_UNSPECIFIED', send({ role: 'ROLE_UNSPECIFIED' }), ['message.role']],
  ['a role by a number that there is not', send({ role: 17 }), ['message.role']],
  ['a role by a fraction', send({ role: 0.5 }), ['message.role']],
  ['a role named like a prototype member', send({ role: 'constructor' }), ['message.role']],
  ['no parts', send({ parts: undefined }), ['message.parts']],
  ['empty parts', send({ parts: [] }), ['message.parts']],
  ['parts that are an object', send({ parts: { 0: { text: 'a' }, length: 1 } }), ['message.parts']],
  ['parts that are text', send({ parts: 'hello' }), ['message.parts']],
  ['a part that is a number', part(5), ['message.parts[0]']],
  ['a part that is null', part({ text: 'a' }, null), ['message.parts[1]']],
  ['a part that is an array', part([{ text: 'a' }]), ['message.parts[0]']],
  ['a part without content', part({}), ['message.parts[0]']],
  ['a part with only attributes', part({ filename: 'a.txt', mediaType: 'text/plain' }), ['message.parts[0]']],
  ['a part of 0.3', part({ kind: 'text' }), ['message.parts[0]']],
  ['a part with two contents', part({ text: 'a', data: {} }), ['message.parts[0]']],
  ['a part with two contents, one null', part({ text: 'a', data: null }), ['message.parts[0]']],
  ['a part with all contents', part({ text: 'a', raw: 'YQ==', url: 'https://a.example', data: 1 }), ['message.parts[0]']],
  ['text that is a number', part({ text: 5 }), ['message.parts[0].text']],
  ['text that is an object, in the third part', part({ text: 'a' }, { text: 'b' }, { text: {} }), ['message.parts[2].text']],
  ['raw that is not base64', part({ raw: 'not base64!' }), ['message.parts[0].raw']],
  ['raw of an impossible length', part({ raw: 'YWJjZ' }), ['message.parts[0].raw']],
  ['raw that is an array of bytes', part({ raw: [1, 2] }), ['message.parts[0].raw']],
  ['a url that is none', part({ url: 'not a url' }), ['message.parts[0].url']],
  ['a relative url', part({ url: '/etc/passwd' }), ['message.parts[0].url']],
  ['metadata of a part that is a list', part({ text: 'a', metadata: [] }), ['message.parts[0].metadata']],
  ['a filename that is a number', part({ text: 'a', filename: 1 }), ['message.parts[0].filename']],
  ['a mediaType that is a list', part({ text: 'a', mediaType: ['text/plain'] }), ['message.parts[0].mediaType']],
  ['a contextId that is a number', send({ contextId: 1 }), ['message.contextId']],
  ['a taskId that is an object', send({ taskId: {} }), ['message.taskId']],
  ['metadata of the message that is text', send({ metadata: 'x' }), ['message.metadata']],
  ['extensions that are text', send({ extensions: 'https://a.example' }), ['message.extensions']],
  ['an extension that is a number', send({ extensions: ['https://a.example', 1] }), ['message.extensions[1]']],
  ['a reference that is null', send({ referenceTaskIds: [null] }), ['message.referenceTaskIds[0]']],
  ['10,001 parts', send({ parts: Array(10_001).fill({ text: 'a' }) }), ['message.parts']],
  ['10,001 references', send({ referenceTaskIds: Array(10_001).fill('a') }), ['message.referenceTaskIds']],
  ['a configuration that is text', configured('fast'), ['configuration']],
  ['returnImmediately "false"', configured({ returnImmediately: 'false' }), ['configuration.returnImmediately']],
  ['returnImmediately 0', configured({ returnImmediately: 0 }), ['configuration.returnImmediately']],
  ['historyLength -1', configured({ historyLength: -1 }), ['configuration.historyLength']],
  ['historyLength 1.5', configured({ historyLength: 1.5 }), ['configuration.historyLength']],
  ['historyLength "1.5"', configured({ historyLength: '1.5' }), ['configuration.historyLength']],
  ['historyLength ""', configured({ historyLength: '' }), ['configuration.historyLength']],
  ['historyLength true', configured({ historyLength: true }), ['configuration.historyLength']],
  ['historyLength beyond int32', configured({ historyLength: 2 ** 31 }), ['configuration.historyLength']],
  ['acceptedOutputModes that are text', configured({ acceptedOutputModes: 'text/plain' }), ['configuration.acceptedOutputModes']],
  ['an output mode that is a number', configured({ acceptedOutputModes: [1] }), ['configuration.acceptedOutputModes[0]']],
  ['a push config without url', configured({ taskPushNotificationConfig: {} }), ['configuration.taskPushNotificationConfig.url']],
  ['a push config whose url is none', configured({ taskPushNotificationConfig: { url: 'x' } }), ['configuration.taskPushNotificationConfig.url']],
  ['push credentials without a scheme', configured({ taskPushNotificationConfig: { url: 'https://a.example', authentication: { credentials: 'x' } } }), ['configuration.taskPushNotificationConfig.authentication.scheme']],
  ['a push config where there is no push', configured({ taskPushNotificationConfig: { url: 'https://a.example/hook' } }), 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ['metadata that is a list', { message: said(), metadata: [] }, ['metadata']],
  ['a tenant that is a number', { message: said(), tenant: 5 }, ['tenant']],
  ['many members that are wrong, all named', { message: { messageId: 1, role: 'x', parts: [{ text: 1, data: 2 }] }, configuration: { historyLength: 'x' }, metadata: 1 }, ['configuration.historyLength', 'message.messageId', 'message.parts[0]', 'message.parts[0].text', 'message.role', 'metadata']],
  ['an unknown task', send({ taskId: 'nobody' }), 'TASK_NOT_FOUND'],
  ['a task named like a prototype', send({ taskId: '__proto__' }), 'TASK_NOT_FOUND'],
  ['an unknown task with the longest id there may be', send({ taskId: 'x'.repeat(512) }), 'TASK_NOT_FOUND'],
  ['a task whose id is 513 characters long', send({ taskId: 'x'.repeat(513) }), ['message.taskId']],
  ['a messageId of 85,000 characters', send({ messageId: 'x'.repeat(85_000) }), ['message.messageId']],
  ['a contextId with a NUL', send({ contextId: 'a\0b' }), ['message.contextId']],
  ['a messageId with half a surrogate pair', send({ messageId: 'a\ud800' }), ['message.messageId']],
  ['an empty reference', send({ referenceTaskIds: ['a', ''] }), ['message.referenceTaskIds[1]']],
  ['a completed task', ({ completed }) => send({ taskId: completed }), 'UNSUPPORTED_OPERATION'],
  ['a failed task', ({ failed }) => send({ taskId: failed }), 'UNSUPPORTED_OPERATION'],
  ['a canceled task', ({ canceled }) => send({ taskId: canceled }), 'UNSUPPORTED_OPERATION'],
  ['another context than the task\'s', ({ asking }) => send({ taskId: asking, contextId: 'another' }), 'INVALID_PARAMS', ['message.contextId']],
  ['the task of another tenant', ({ asking }) => ({ tenant: 'other', message: said({ taskId: asking }) }), 'TASK_NOT_FOUND'],
  ['a media type that the agent does not read', part({ text: 'a', mediaType: 'video/mp4' }), 'CONTENT_TYPE_NOT_SUPPORTED'],
  ['a media type that is none', part({ text: 'a', mediaType: ';;' }), 'CONTENT_TYPE_NOT_SUPPORTED'],
  ['only output that the agent does not write', configured({ acceptedOutputModes: ['image/png'] }), 'CONTENT_TYPE_NOT_SUPPORTED'],
];

export const wrongSends: readonly WrongSend[] = rows.map(([what, params, reason, alsoFields]) =>
  typeof reason === 'string'
    ? { what, params, reason, ...(alsoFields && { fields: alsoFields }) }
    : { what, params, reason: 'INVALID_PARAMS', fields: reason },
);
