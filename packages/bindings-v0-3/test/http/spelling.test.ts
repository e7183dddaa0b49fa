import { jsonBody } from '@batonjs/bindings';
import { describe, expect, it } from 'vitest';
import { v03 } from '../../src/index.ts';

const [, httpJson] = v03({ onLoss: () => {} }).bindings;

/** What a request of HTTP+JSON asks for. */
function read(rule: string, body?: object) {
  const [method = '', target = ''] = rule.split(' ');
  const [path = '', query = ''] = target.split('?');
  const { operation, params } = httpJson!.decodeCall({
    method,
    path,
    query: new URLSearchParams(query),
    headers: { 'content-type': 'application/json' },
    body: body && jsonBody({ value: body }),
  });
  return { operation, params };
}

const send = 'POST /v1/message:send';
const configs = 'POST /v1/tasks/t/pushNotificationConfigs';
const message = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }] };
const url = 'https://hook.example/';
const inMessage = (more: object) => ({ message: { ...message, ...more } });
const inPart = (part: object) => inMessage({ content: [part] });
const configured = (configuration: object) => ({ message, configuration });

/** Every name of more than one word in the requests of the protocol buffers of 0.3: in JSON, and as the proto has it. */
const rows: readonly (readonly [name: string, rule: string, inJson: object, inProto: object])[] = [
  [
    'Message.message_id',
    send,
    { message },
    { message: { message_id: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }] } },
  ],
  ['Message.context_id', send, inMessage({ contextId: 'c' }), inMessage({ context_id: 'c' })],
  ['Message.task_id', send, inMessage({ taskId: 't' }), inMessage({ task_id: 't' })],
  [
    'Message.reference_task_ids',
    send,
    inMessage({ referenceTaskIds: ['t'] }),
    inMessage({ reference_task_ids: ['t'] }),
  ],
  [
    'FilePart.file_with_uri',
    send,
    inPart({ file: { fileWithUri: url } }),
    inPart({ file: { file_with_uri: url } }),
  ],
  [
    'FilePart.file_with_bytes',
    send,
    inPart({ file: { fileWithBytes: 'YQ==' } }),
    inPart({ file: { file_with_bytes: 'YQ==' } }),
  ],
  [
    'FilePart.mime_type',
    send,
    inPart({ file: { fileWithUri: url, mimeType: 'a/b' } }),
    inPart({ file: { file_with_uri: url, mime_type: 'a/b' } }),
  ],
  [
    'SendMessageConfiguration.accepted_output_modes',
    send,
    configured({ acceptedOutputModes: ['a/b'] }),
    configured({ accepted_output_modes: ['a/b'] }),
  ],
  [
    'SendMessageConfiguration.push_notification',
    send,
    configured({ pushNotification: { url } }),
    configured({ push_notification: { url } }),
  ],
  [
    'SendMessageConfiguration.history_length',
    send,
    configured({ historyLength: 1 }),
    configured({ history_length: 1 }),
  ],
  [
    'TaskPushNotificationConfig.push_notification_config',
    configs,
    { name: 'tasks/t', pushNotificationConfig: { url } },
    { name: 'tasks/t', push_notification_config: { url } },
  ],
  [
    'CreateTaskPushNotificationConfigRequest.config_id',
    configs,
    { parent: 'tasks/t', configId: 'x', config: { pushNotificationConfig: { url } } },
    { parent: 'tasks/t', config_id: 'x', config: { push_notification_config: { url } } },
  ],
];

describe('HTTP+JSON of 0.3 reads both names of', () => {
  it.each(rows)('%s [R-JSON-04]', (name, rule, inJson, inProto) => {
    const asked = read(rule, inJson);
    expect(read(rule, inProto)).toEqual(asked);
    // Without it, something else is asked for: the member is not ignored under both names.
    const camel = name.split('.')[1]!.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const without = JSON.parse(JSON.stringify(inJson), (key, value) => (key === camel ? undefined : value));
    expect(read(rule, without)).not.toEqual(asked);
  });

  it.each([
    ['GetTaskRequest.history_length', 'GET /v1/tasks/t?historyLength=1', 'GET /v1/tasks/t?history_length=1'],
    [
      'ListTaskPushNotificationConfigRequest.page_size',
      'GET /v1/tasks/t/pushNotificationConfigs?pageSize=7',
      'GET /v1/tasks/t/pushNotificationConfigs?page_size=7',
    ],
    [
      'ListTaskPushNotificationConfigRequest.page_token',
      'GET /v1/tasks/t/pushNotificationConfigs?pageToken=x',
      'GET /v1/tasks/t/pushNotificationConfigs?page_token=x',
    ],
  ])('%s', (_, inJson, inProto) => {
    expect(read(inProto)).toEqual(read(inJson));
    expect(read(inJson)).not.toEqual(read(inJson.split('?')[0]!));
  });

  it('nothing within metadata and data, which are free', () => {
    const free = { some_name: { other_name: 1 } };
    const { params } = read(send, {
      ...inMessage({ metadata: free, content: [{ data: { data: free } }] }),
      metadata: free,
    });
    expect(params).toMatchObject({ metadata: free, message: { metadata: free, parts: [{ data: free }] } });
  });

  it('one member, of which the name in JSON counts', () => {
    expect(read(send, inMessage({ taskId: 'json', task_id: 'proto' })).params).toMatchObject({
      message: { taskId: 'json' },
    });
  });
});
