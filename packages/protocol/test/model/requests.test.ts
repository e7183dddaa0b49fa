import { describe, expect, it } from 'vitest';
import { A2AError, type FieldViolation } from '../../src/errors.ts';
import { type OperationName, operationNames } from '../../src/operations.ts';
import { parseParams } from '../../src/parse-params.ts';

const user = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
const send = (message: object, rest: object = {}) => ({ message: { ...user, ...message }, ...rest });
const part = (content: unknown) => send({ parts: [content] });

/** The violations that a request is refused with, as `field: description`. */
function violations(operation: OperationName, request: unknown): string[] {
  try {
    parseParams(operation, request);
  } catch (error) {
    if (!A2AError.is(error) || error.reason !== 'INVALID_PARAMS') throw error;
    const found = error.details[0]?.fieldViolations as FieldViolation[];
    return found.map(({ field, description }) => `${field}: ${description}`);
  }
  return [];
}

describe('a request in canonical form', () => {
  const messages = {
    full: {
      ...user,
      contextId: 'c-1',
      taskId: 't-1',
      metadata: { 'https://x.example/ext': { nested: [null, { a: null }] }, empty: '' },
      extensions: ['https://x.example/ext'],
      referenceTaskIds: ['t-0'],
      parts: [
        { text: '' },
        { raw: 'AQID', filename: 'a.bin', mediaType: 'application/octet-stream' },
        { url: 'https://x.example/a.pdf', metadata: { pages: 2 } },
        { data: { nested: [1, null, { a: null }] } },
      ],
    },
  };

  it.each<[OperationName, object]>([
    ['SendMessage', { message: messages.full, tenant: 'acme', metadata: { trace: '1' } }],
    [
      'SendStreamingMessage',
      {
        message: user,
        configuration: {
          acceptedOutputModes: ['text/plain'],
          historyLength: 0,
          returnImmediately: true,
          taskPushNotificationConfig: {
            url: 'https://x.example/hook',
            token: 't',
            authentication: { scheme: 'Bearer', credentials: 's' },
          },
        },
      },
    ],
    ['GetTask', { id: 't-1', historyLength: 3, tenant: 'acme' }],
    [
      'ListTasks',
      {
        contextId: 'c-1',
        status: 'TASK_STATE_WORKING',
        pageSize: 100,
        pageToken: 'p',
        historyLength: 0,
        statusTimestampAfter: '2026-01-01T00:00:00.000Z',
        includeArtifacts: false,
      },
    ],
    ['ListTasks', {}],
    ['CancelTask', { id: 't-1', metadata: { reason: 'too slow' } }],
    ['SubscribeToTask', { id: 't-1' }],
    ['CreateTaskPushNotificationConfig', { taskId: 't-1', id: 'p-1', url: 'https://x.example/hook' }],
    ['GetTaskPushNotificationConfig', { taskId: 't-1', id: 'p-1' }],
    ['ListTaskPushNotificationConfigs', { taskId: 't-1', pageSize: 10, pageToken: 'p' }],
    ['DeleteTaskPushNotificationConfig', { taskId: 't-1', id: 'p-1' }],
    ['GetExtendedAgentCard', { tenant: 'acme' }],
  ])('%s is taken as it is', (operation, request) => {
    expect(parseParams(operation, request)).toEqual(request);
  });
});

describe('what ProtoJSON allows besides', () => {
  const parsedPart = (content: unknown) => parseParams('SendMessage', part(content)).message.parts[0];

  it('takes snake_case names and makes them camelCase [R-JSON-04]', () => {
    const request = {
      message: { message_id: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hi', media_type: 'text/plain' }] },
      configuration: { return_immediately: true, accepted_output_modes: ['text/plain'] },
    };
    expect(parseParams('SendMessage', request)).toEqual({
      message: { ...user, parts: [{ text: 'hi', mediaType: 'text/plain' }] },
      configuration: { returnImmediately: true, acceptedOutputModes: ['text/plain'] },
    });
  });

  it('prefers the canonical name where both are given', () => {
    expect(parseParams('GetTask', { id: 't', historyLength: 1, history_length: 2 })).toEqual({
      id: 't',
      historyLength: 1,
    });
    expect(parseParams('GetTask', { id: 't', history_length: 2, historyLength: 1 })).toEqual({
      id: 't',
      historyLength: 1,
    });
  });

  it('takes numbers as text [R-JSON-04]', () => {
    expect(parseParams('ListTasks', { pageSize: '20', historyLength: '0' })).toEqual({
      pageSize: 20,
      historyLength: 0,
    });
  });

  it('takes enums as numbers [R-JSON-04]', () => {
    expect(parseParams('SendMessage', send({ role: 1 })).message.role).toBe('ROLE_USER');
    expect(parseParams('ListTasks', { status: 8 })).toEqual({ status: 'TASK_STATE_AUTH_REQUIRED' });
  });

  it('takes null as absent, except where null is a value [R-JSON-12, R-JSON-15]', () => {
    const request = {
      message: { ...user, contextId: null, metadata: null },
      configuration: null,
      tenant: null,
    };
    expect(parseParams('SendMessage', request)).toEqual({ message: user });
    expect(parsedPart({ text: 'a', raw: null, url: null })).toEqual({ text: 'a' });
    expect(parsedPart({ data: null })).toEqual({ data: null });
    expect(parsedPart({ data: null, metadata: { a: null } })).toEqual({ data: null, metadata: { a: null } });
    expect(violations('SendMessage', part({ text: 'a', data: null }))).toEqual([
      'message.parts[0]: must have exactly one of text, raw, url, data; has text and data',
    ]);
  });

  it('takes "" as absent where a string has no presence [R-JSON-11]', () => {
    expect(parseParams('SendMessage', { tenant: '', ...send({ contextId: '', task_id: '' }) })).toEqual({
      message: user,
    });
    expect(parsedPart({ text: '', filename: '' })).toEqual({ text: '' });
  });

  it('takes an unspecified status as no filter [R-LIST-08]', () => {
    for (const status of ['TASK_STATE_UNSPECIFIED', 0]) {
      expect(parseParams('ListTasks', { status }).status).toBeUndefined();
    }
  });

  it('drops unknown members [R-JSON-05]', () => {
    const request = { ...send({ kind: 'message', parts: [{ kind: 'text', text: 'hi' }] }), unknown: 1 };
    expect(parseParams('SendMessage', request)).toEqual({ message: user });
  });

  it.each([
    ['AQID', 'AQID'],
    ['+/8=', '+/8='],
    ['-_8=', '+/8='],
    ['-_8', '+/8='],
    ['+/8', '+/8='],
    ['AA', 'AA=='],
    ['', ''],
  ])('takes base64 %j and makes it %j [R-JSON-08]', (raw, canonical) => {
    expect(parsedPart({ raw })).toEqual({ raw: canonical });
  });

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500Z'],
    ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T01:30:00.25+02:00', '2025-12-31T23:30:00.250Z'],
    ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00', '2026-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00-12:00', '2024-02-29T12:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('takes the time %s and makes it %s [R-JSON-10]', (statusTimestampAfter, canonical) => {
    expect(parseParams('ListTasks', { statusTimestampAfter })).toEqual({ statusTimestampAfter: canonical });
  });

  it('leaves the request itself as it was', () => {
    const request = { message: { message_id: 'm-1', role: 1, parts: [{ raw: '-_8' }] }, configuration: null };
    const before = structuredClone(request);
    parseParams('SendMessage', request);
    expect(request).toEqual(before);
  });

  it('does not let a member named __proto__ become a prototype', () => {
    const request = JSON.parse(`{"id":"t","history_length":1,"__proto__":{"tenant":"evil"}}`);
    const parsed = parseParams('GetTask', request);
    expect(parsed).toEqual({ id: 't', historyLength: 1 });
    expect(parsed.tenant).toBeUndefined();
  });
});

describe('a wrong request', () => {
  const oneOf = 'must have exactly one of text, raw, url, data';

  it.each<[OperationName, unknown, string[]]>([
    ['SendMessage', {}, ['message: is required']],
    ['SendMessage', { message: null }, ['message: is required']],
    ['SendMessage', { message: 'hi' }, ['message: Invalid input: expected object, received string']],
    ['SendMessage', { message: [] }, ['message: Invalid input: expected object, received array']],
    [
      'SendMessage',
      { message: {} },
      ['message.messageId: is required', 'message.role: is required', 'message.parts: is required'],
    ],
    ['SendMessage', send({ messageId: '' }), ['message.messageId: must not be empty']],
    [
      'SendMessage',
      send({ messageId: { a: 1 } }),
      ['message.messageId: Invalid input: expected string, received object'],
    ],
    ['SendMessage', send({ role: 'ROLE_UNSPECIFIED' }), ['message.role: is required']],
    ['SendMessage', send({ role: 0 }), ['message.role: is required']],
    ['SendMessage', send({ role: 7 }), ['message.role: must be one of ROLE_USER, ROLE_AGENT']],
    ['SendMessage', send({ parts: [] }), ['message.parts: must have at least one part']],
    ['SendMessage', send({ parts: {} }), ['message.parts: Invalid input: expected array, received object']],
    [
      'SendMessage',
      send({ parts: Array(10_001).fill(5) }),
      ['message.parts: must have at most 10000 elements'],
    ],
    ['SendMessage', part(5), ['message.parts[0]: Invalid input: expected object, received number']],
    ['SendMessage', part(null), ['message.parts[0]: Invalid input: expected object, received null']],
    ['SendMessage', part({}), [`message.parts[0]: ${oneOf}; has none`]],
    ['SendMessage', part({ text: null }), [`message.parts[0]: ${oneOf}; has none`]],
    [
      'SendMessage',
      part({ text: 'a', url: 'https://x.example' }),
      [`message.parts[0]: ${oneOf}; has text and url`],
    ],
    [
      'SendMessage',
      part({ text: 5, data: 1, mediaType: 6 }),
      [
        'message.parts[0].text: Invalid input: expected string, received number',
        'message.parts[0].mediaType: Invalid input: expected string, received number',
        `message.parts[0]: ${oneOf}; has text and data`,
      ],
    ],
    ['SendMessage', part({ url: '' }), ['message.parts[0].url: must be an absolute URL']],
    ['SendMessage', part({ url: '/a.pdf' }), ['message.parts[0].url: must be an absolute URL']],
    ['SendMessage', part({ raw: 'a' }), ['message.parts[0].raw: must be base64']],
    ['SendMessage', part({ raw: 'AQ I' }), ['message.parts[0].raw: must be base64']],
    ['SendMessage', part({ raw: 'A===' }), ['message.parts[0].raw: must be base64']],
    ['SendMessage', part({ text: 'a', metadata: [] }), ['message.parts[0].metadata: must be an object']],
    ['SendMessage', send({ metadata: 'a' }), ['message.metadata: must be an object']],
    [
      'SendMessage',
      send({ extensions: 'a' }),
      ['message.extensions: Invalid input: expected array, received string'],
    ],
    [
      'SendMessage',
      send({ referenceTaskIds: [1] }),
      ['message.referenceTaskIds[0]: Invalid input: expected string, received number'],
    ],
    [
      'SendMessage',
      send({}, { configuration: { returnImmediately: 'false', historyLength: -1 } }),
      [
        'configuration.historyLength: Too small: expected number to be >=0',
        'configuration.returnImmediately: Invalid input: expected boolean, received string',
      ],
    ],
    [
      'SendMessage',
      send({}, { configuration: { taskPushNotificationConfig: { authentication: { scheme: '' } } } }),
      [
        'configuration.taskPushNotificationConfig.url: is required',
        'configuration.taskPushNotificationConfig.authentication.scheme: must not be empty',
      ],
    ],
    ['GetTask', {}, ['id: is required']],
    ['GetTask', { id: '' }, ['id: must not be empty']],
    [
      'GetTask',
      { id: 't', historyLength: 1.5 },
      ['historyLength: Invalid input: expected int, received number'],
    ],
    [
      'GetTask',
      { id: 't', historyLength: 'two' },
      ['historyLength: Invalid input: expected number, received string'],
    ],
    [
      'GetTask',
      { id: 't', historyLength: 2 ** 31 },
      ['historyLength: Too big: expected number to be <=2147483647'],
    ],
    ['ListTasks', { pageSize: 0 }, ['pageSize: Too small: expected number to be >=1']],
    ['ListTasks', { pageSize: 101 }, ['pageSize: Too big: expected number to be <=100']],
    [
      'ListTasks',
      { includeArtifacts: 'yes' },
      ['includeArtifacts: Invalid input: expected boolean, received string'],
    ],
    [
      'ListTasks',
      { statusTimestampAfter: 'yesterday' },
      ['statusTimestampAfter: must be an RFC 3339 timestamp'],
    ],
    [
      'ListTasks',
      { statusTimestampAfter: '2026-02-30T00:00:00Z' },
      ['statusTimestampAfter: must be an RFC 3339 timestamp'],
    ],
    [
      'ListTasks',
      { statusTimestampAfter: '2026-01-01T24:00:00Z' },
      ['statusTimestampAfter: must be an RFC 3339 timestamp'],
    ],
    [
      'ListTasks',
      { statusTimestampAfter: '9999-12-31T23:59:59-01:00' },
      ['statusTimestampAfter: must be an RFC 3339 timestamp'],
    ],
    [
      'ListTasks',
      { statusTimestampAfter: '2026-01-01T00:00:00+99:00' },
      ['statusTimestampAfter: must be an RFC 3339 timestamp'],
    ],
    [
      'ListTasks',
      { statusTimestampAfter: '2026-01-01' },
      ['statusTimestampAfter: must be an RFC 3339 timestamp'],
    ],
    [
      'CreateTaskPushNotificationConfig',
      { url: 'nowhere' },
      ['url: must be an absolute URL', 'taskId: is required'],
    ],
    ['GetTaskPushNotificationConfig', { taskId: 't' }, ['id: is required']],
    [
      'ListTaskPushNotificationConfigs',
      { pageSize: -1 },
      ['taskId: is required', 'pageSize: Too small: expected number to be >=0'],
    ],
  ])('%s %j is refused with %j', (operation, request, expected) => {
    expect(violations(operation, request).sort()).toEqual(expected.sort());
  });

  it('is summed up in the message, which is all that many clients print [R-ERR-07]', () => {
    const messageOf = (operation: OperationName, request: object) => {
      try {
        parseParams(operation, request);
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(messageOf('GetTask', {})).toBe('Invalid parameters: id is required');
    expect(messageOf('SendMessage', { message: {} })).toBe(
      'Invalid parameters: message.messageId is required (and 2 more)',
    );
    const long = messageOf('SendMessage', { message: { role: 'x'.repeat(10_000) } })!;
    expect(long.length).toBeLessThan(300);
  });

  it('reads the same in a query, where all is text, and in JSON [R-REST-05]', () => {
    const read = (request: object) => parseParams('ListTasks', request);
    expect(read({ status: '3', includeArtifacts: 'true', pageSize: '7' })).toEqual(
      read({ status: 3, includeArtifacts: true, pageSize: 7 }),
    );
  });

  it('names an unknown state, and what it may be [R-JSON-17]', () => {
    expect(violations('ListTasks', { status: 'working' })).toEqual([
      expect.stringMatching(/^status: must be one of TASK_STATE_SUBMITTED, TASK_STATE_WORKING, /),
    ]);
  });

  it.each(operationNames)('%s is refused when it is no object', (operation) => {
    for (const request of [null, [], 'x', 5]) expect(violations(operation, request)).toHaveLength(1);
  });

  it('names a hundred violations and counts the rest', () => {
    const found = violations('SendMessage', send({ parts: Array(1_000).fill({ text: 5 }) }));
    expect(found).toHaveLength(101);
    expect(found[99]).toMatch(/^message\.parts\[99\]\.text: /);
    expect(found[100]).toBe(': and 900 more');
  });
});

describe('an id in a request', () => {
  const config = { taskId: 't', id: 'c', url: 'https://x.example' };
  const rows: readonly [operation: OperationName, field: string, request: (id: string) => object][] = [
    ['SendMessage', 'message.messageId', (messageId) => send({ messageId })],
    ['SendMessage', 'message.contextId', (contextId) => send({ contextId })],
    ['SendStreamingMessage', 'message.taskId', (taskId) => send({ taskId })],
    ['SendMessage', 'message.referenceTaskIds[1]', (id) => send({ referenceTaskIds: ['t', id] })],
    ['SendMessage', 'tenant', (tenant) => send({}, { tenant })],
    [
      'SendMessage',
      'configuration.taskPushNotificationConfig.id',
      (id) => send({}, { configuration: { taskPushNotificationConfig: { ...config, id } } }),
    ],
    ['GetTask', 'id', (id) => ({ id })],
    ['ListTasks', 'contextId', (contextId) => ({ contextId })],
    ['CancelTask', 'id', (id) => ({ id })],
    ['SubscribeToTask', 'id', (id) => ({ id })],
    ['CreateTaskPushNotificationConfig', 'taskId', (taskId) => ({ ...config, taskId })],
    ['CreateTaskPushNotificationConfig', 'id', (id) => ({ ...config, id })],
    ['GetTaskPushNotificationConfig', 'taskId', (taskId) => ({ ...config, taskId })],
    ['GetTaskPushNotificationConfig', 'id', (id) => ({ ...config, id })],
    ['ListTaskPushNotificationConfigs', 'taskId', (taskId) => ({ taskId })],
    ['DeleteTaskPushNotificationConfig', 'taskId', (taskId) => ({ ...config, taskId })],
    ['DeleteTaskPushNotificationConfig', 'id', (id) => ({ ...config, id })],
    ['GetExtendedAgentCard', 'tenant', (tenant) => ({ tenant })],
  ];

  it.each(rows)('%s: %s is one that every store can keep [R-OP-05]', (operation, field, request) => {
    const form = 'must be well-formed Unicode without NUL';
    expect(violations(operation, request('x'.repeat(513)))).toEqual([
      `${field}: must have at most 512 characters`,
    ]);
    expect(violations(operation, request('a\0b'))).toEqual([`${field}: ${form}`]);
    expect(violations(operation, request('a\ud800'))).toEqual([`${field}: ${form}`]);
    for (const id of ['x'.repeat(512), ' ', '../é 😀\n'])
      expect(violations(operation, request(id))).toEqual([]);
  });
});
