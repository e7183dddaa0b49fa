import { A2AError } from '@batonjs/protocol/errors';
import { type OperationName, operationNames, operations } from '@batonjs/protocol/operations';
import { describe, expect, it } from 'vitest';
import { httpJsonClient, httpJsonServer } from '../src/index.ts';
import { refusal, request } from './exchange.ts';

const decode = (...given: Parameters<typeof request>) => {
  const { operation, params } = httpJsonServer.decodeCall(request(...given));
  return [operation, params];
};

const configs = '/tasks/{taskId}/pushNotificationConfigs';

describe('the routes of HTTP+JSON', () => {
  const rules = operationNames.flatMap((operation) =>
    operations[operation].http.map((rule) => [rule, operation] as const),
  );

  it.each(rules)(
    '%s is %s, with and without tenant and a slash that stands for no field [R-REST-02, R-REST-03, R-REST-04]',
    (rule, operation) => {
      const concrete = rule.replaceAll(/\{(\w+)\}/g, 'the-$1');
      const fields = Object.fromEntries(
        [...rule.matchAll(/\{(\w+)\}/g)].map(([, field]) => [field, `the-${field}`]),
      );
      expect(decode(concrete)).toEqual([operation, fields]);
      const isList = ['GET /tasks', `GET ${configs}`].includes(rule);
      if (isList) expect(decode(`${concrete}/`)[1]).toEqual({ ...fields, id: '' });
      else expect(decode(`${concrete}/`)).toEqual([operation, fields]);
      expect(decode(concrete.replace(' /', ' /acme%2Feu/'))).toEqual([
        operation,
        { tenant: 'acme/eu', ...fields },
      ]);
    },
  );

  it.each<[rule: string, OperationName, params: object]>([
    ['GET /tasks/', 'GetTask', { id: '' }],
    ['GET /acme/tasks/', 'GetTask', { tenant: 'acme', id: '' }],
    ['POST /tasks/:cancel', 'CancelTask', { id: '' }],
    ['GET /tasks//pushNotificationConfigs', 'ListTaskPushNotificationConfigs', { taskId: '' }],
    ['GET /tasks/t/pushNotificationConfigs/', 'GetTaskPushNotificationConfig', { taskId: 't', id: '' }],
    ['GET /tasks/tasks', 'GetTask', { id: 'tasks' }],
    ['GET /tasks/a%2Fb', 'GetTask', { id: 'a/b' }],
    ['GET /tasks/x%3Acancel', 'GetTask', { id: 'x:cancel' }],
    ['GET /tasks/a:b', 'GetTask', { id: 'a:b' }],
    ['POST /tasks/a:b:cancel', 'CancelTask', { id: 'a:b' }],
    ['POST /tasks/%C3%A4:cancel', 'CancelTask', { id: 'ä' }],
    ['GET /tasks/tasks/x', 'GetTask', { id: 'x', tenant: 'tasks' }],
    ['POST /tasks/message:send', 'SendMessage', { tenant: 'tasks' }],
    ['GET /message:send/tasks', 'ListTasks', { tenant: 'message:send' }],
    [
      'GET /tasks/t/pushNotificationConfigs/tasks',
      'GetTaskPushNotificationConfig',
      { taskId: 't', id: 'tasks' },
    ],
    ['GET /tasks/__proto__', 'GetTask', { id: '__proto__' }],
  ])('%s is %s %j [R-REST-12]', (rule, operation, params) => {
    expect(decode(rule)).toEqual([operation, params]);
  });

  it.each([
    'GET /toast',
    'GET /tasks/a/b',
    'GET //tasks',
    'GET /tasks//',
    'GET /acme/eu/tasks',
    'POST /tasks/:cancel/x/y/z',
    'GET /v1/acme/tasks/x/pushNotificationConfigs/y',
    'GET tasks',
    'POST /message%3Asend',
  ])('%s is nothing [R-REST-11]', (rule) => {
    expect(refusal(() => decode(rule)).reason).toBe('METHOD_NOT_FOUND');
  });

  it.each([
    ['GET /message:send', 'POST'],
    ['PUT /tasks/x', 'GET'],
    ['DELETE /tasks', 'GET'],
    ['GET /tasks/x:cancel', 'POST'],
    ['DELETE /tasks/x:subscribe', 'POST, GET'],
    ['PUT /acme/tasks/x/pushNotificationConfigs', 'POST, GET'],
    ['POST /tasks/x/pushNotificationConfigs/y', 'GET, DELETE'],
    ['get /tasks/x', 'GET'],
  ])('%s answers 405 and allows %s [R-REST-11]', (rule, allow) => {
    const received = request(rule);
    try {
      httpJsonServer.decodeCall(received);
      expect.unreachable();
    } catch (error) {
      const reply = httpJsonServer.encodeError(A2AError.from(error), received);
      expect(reply).toMatchObject({
        status: 405,
        headers: { allow, 'content-type': 'application/a2a+json' },
      });
    }
  });

  it('leaves the mount itself to others', () => {
    expect(
      ['', '/', '/tasks', '/toast'].map((path) => httpJsonServer.matches(request(`GET ${path}`))),
    ).toEqual([false, false, true, true]);
  });
});

describe('what HTTP+JSON reads besides the path', () => {
  it('takes the query by the types of the table, in both spellings [R-REST-05]', () => {
    const params = {
      contextId: 'c 1',
      pageSize: 20,
      historyLength: 0,
      includeArtifacts: true,
      status: 'TASK_STATE_WORKING',
      tenant: 'acme',
    };
    const query =
      'contextId=c%201&pageSize=20&historyLength=0&includeArtifacts=true&status=TASK_STATE_WORKING&tenant=acme';
    expect(decode(`GET /tasks?${query}`)).toEqual(['ListTasks', params]);
    const snakeCase =
      'context_id=c+1&page_size=20&history_length=0&include_artifacts=true&status=TASK_STATE_WORKING&tenant=acme';
    expect(decode(`GET /tasks?${snakeCase}`)).toEqual(['ListTasks', params]);
  });

  it('leaves values that are no number and no boolean for the schema to refuse', () => {
    expect(decode('GET /tasks?pageSize=many&includeArtifacts=yes')).toEqual([
      'ListTasks',
      { pageSize: 'many', includeArtifacts: 'yes' },
    ]);
  });

  it('ignores what the operation does not have', () => {
    expect(decode('GET /tasks/x?historyLength=1&A2A-Version=1.0&id=y&__proto__=z&toString=1')).toEqual([
      'GetTask',
      { id: 'x', historyLength: 1 },
    ]);
  });

  it('takes the tenant of a POST from path, body or query', () => {
    for (const [rule, body] of [
      ['POST /acme/tasks/x:cancel', '{}'],
      ['POST /acme/tasks/x:cancel?tenant=acme', '{"tenant":"acme"}'],
      ['POST /tasks/x:cancel', '{"tenant":"acme"}'],
      ['POST /tasks/x:cancel?tenant=acme', undefined],
    ] as const) {
      expect(decode(rule, body)).toEqual(['CancelTask', { id: 'x', tenant: 'acme' }]);
    }
  });

  it('takes no body and an empty object as the same', () => {
    expect(decode('POST /tasks/x:subscribe')).toEqual(['SubscribeToTask', { id: 'x' }]);
    expect(decode('POST /tasks/x:subscribe', '{}')).toEqual(['SubscribeToTask', { id: 'x' }]);
    expect(decode('POST /tasks/x:cancel', '', { 'content-type': '' })).toEqual(['CancelTask', { id: 'x' }]);
  });

  it.each<[what: string, headers: Record<string, string>]>([
    ['a type that is not JSON', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type, from a page', { 'content-type': '', origin: 'https://elsewhere.example' }],
    ['no type, with a cookie', { 'content-type': '', cookie: 'session=1' }],
  ])('refuses no body with %s: any page may make a browser send that', (_, headers) => {
    const forged = () => decode('POST /tasks/x:cancel', undefined, headers);
    expect(refusal(forged).reason).toBe('CONTENT_TYPE_NOT_SUPPORTED');
    const asked = { ...headers, 'a2a-version': '1.0' };
    expect(decode('POST /tasks/x:cancel', undefined, asked)).toEqual(['CancelTask', { id: 'x' }]);
    const json = { ...headers, 'content-type': 'application/json' };
    expect(decode('POST /tasks/x:cancel', undefined, json)).toEqual(['CancelTask', { id: 'x' }]);
  });

  it('says which content type it takes', () => {
    const messageOf = (type: string) => {
      try {
        decode('POST /message:send', '{}', { 'content-type': type });
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(messageOf('text/plain')).toBe('The Content-Type is text/plain; send application/json');
    expect(messageOf('')).toBe('The Content-Type is missing; send application/json');
  });

  it.each([
    'application/json',
    'application/a2a+json',
    'application/a2a+json; charset=utf-8',
    'APPLICATION/JSON',
  ])('takes the content type %s [R-REST-01]', (type) => {
    expect(decode('POST /message:send', '{"metadata":{}}', { 'content-type': type })).toEqual([
      'SendMessage',
      { metadata: {} },
    ]);
  });

  it.each<[rule: string, body: string | undefined, reason: string, fields?: string[]]>([
    ['POST /message:send', '{"message"', 'PARSE_ERROR'],
    ['POST /message:send', '[]', 'INVALID_PARAMS', ['']],
    ['POST /message:send', '"hi"', 'INVALID_PARAMS', ['']],
    ['POST /message:send', 'null', 'INVALID_PARAMS', ['']],
    ['POST /message:send', '['.repeat(101) + ']'.repeat(101), 'INVALID_REQUEST', ['']],
    ['POST /tasks/x:cancel', '{"id":"y"}', 'INVALID_PARAMS', ['id']],
    ['POST /tasks/x:cancel', '{"id":{"a":1}}', 'INVALID_PARAMS', ['id']],
    ['POST /acme/tasks/x:cancel', '{"tenant":"other"}', 'INVALID_PARAMS', ['tenant']],
    ['POST /tasks/x:cancel?tenant=other', '{"tenant":"acme"}', 'INVALID_PARAMS', ['tenant']],
    ['POST /acme/message:send?tenant=other', '{}', 'INVALID_PARAMS', ['tenant']],
    ['GET /acme/tasks?tenant=other', undefined, 'INVALID_PARAMS', ['tenant']],
    ['GET /tasks?pageSize=1&page_size=2', undefined, 'INVALID_PARAMS', ['pageSize']],
    ['GET /tasks/%', undefined, 'INVALID_PARAMS', ['id']],
    ['GET /%E0%A4%A/tasks/%zz', undefined, 'INVALID_PARAMS', ['tenant', 'id']],
  ])('refuses %s %s [R-REST-05, R-REST-06]', (rule, body, reason, fields) => {
    expect(refusal(() => decode(rule, body))).toEqual({ reason, fields });
  });

  it('refuses another content type before it reads the body', () => {
    for (const type of ['text/plain', '', 'multipart/form-data; boundary=x', 'application/jsonp']) {
      expect(refusal(() => decode('POST /message:send', '{broken', { 'content-type': type })).reason).toBe(
        'CONTENT_TYPE_NOT_SUPPORTED',
      );
    }
  });
});

describe('the replies of HTTP+JSON', () => {
  it.each([
    [undefined, 'application/a2a+json'],
    ['*/*', 'application/a2a+json'],
    ['application/*;q=0.5', 'application/a2a+json'],
    ['application/a2a+json, application/json', 'application/a2a+json'],
    ['application/json', 'application/json'],
    ['application/json, text/plain', 'application/json'],
    ['text/event-stream', 'application/a2a+json'],
  ])('to Accept: %s are %s [R-REST-01]', (accept, type) => {
    const received = request('GET /tasks/x', undefined, accept ? { accept } : {});
    const call = httpJsonServer.decodeCall(received);
    expect(httpJsonServer.encodeResult(call, {}).headers).toEqual({ 'content-type': type });
    expect(httpJsonServer.encodeError(new A2AError('TASK_NOT_FOUND'), received).headers).toEqual({
      'content-type': type,
    });
  });
});

describe('the HTTP+JSON client', () => {
  const call = { operation: 'GetTask', params: { id: 't-1' } } as const;
  const reply = (status: number, body: string) => ({ status, body, headers: new Headers() });

  it.each([
    ['https://x.example', 'https://x.example/tasks/t-1'],
    ['https://x.example/', 'https://x.example/tasks/t-1'],
    ['https://x.example/a/b/', 'https://x.example/a/b/tasks/t-1'],
    ['https://x.example/a%2Fb?key=1', 'https://x.example/a%2Fb/tasks/t-1?key=1'],
  ])('joins paths to %s', (baseUrl, url) => {
    expect(httpJsonClient.encodeCall(call, baseUrl).url).toBe(url);
  });

  it.each([
    ['an empty id', 'GetTask', { id: '' }, ['id']],
    ['no id', 'GetTask', {}, ['id']],
    ['an id that URLs resolve', 'GetTask', { id: '..' }, ['id']],
    ['an id that is no text', 'CancelTask', { id: '\ud800' }, ['id']],
    ['a tenant that reads as a route', 'ListTasks', { tenant: 'tasks' }, ['tenant']],
  ] as const)('refuses to send %s, which would ask for something else', (_, operation, params, fields) => {
    expect(refusal(() => httpJsonClient.encodeCall({ operation, params }, 'https://x.example'))).toEqual({
      reason: 'INVALID_PARAMS',
      fields,
    });
  });

  it('subscribes with POST and has a GET to fall back to [R-REST-03]', () => {
    const { method, alternative } = httpJsonClient.encodeCall(
      { operation: 'SubscribeToTask', params: { id: 't-1' } },
      'https://x.example',
    );
    expect([method, alternative?.method, alternative?.body]).toEqual(['POST', 'GET', undefined]);
    expect(httpJsonClient.encodeCall(call, 'https://x.example').alternative).toBeUndefined();
  });

  it.each([
    [200, '{"id":"t-1"}', { id: 't-1' }],
    [201, '{}', {}],
    [204, '', {}],
    [200, ' \n', {}],
  ])('takes status %i with body %j [R-REST-09, R-REST-10]', (status, body, result) => {
    expect(httpJsonClient.decodeReply(call, reply(status, body))).toEqual(result);
  });

  it.each<[number, string, object]>([
    [200, '<html>', { reason: 'INVALID_AGENT_RESPONSE' }],
    [404, '<html>', { reason: 'METHOD_NOT_FOUND' }],
    [405, '', { reason: 'METHOD_NOT_ALLOWED' }],
    [500, '[]', { reason: 'INTERNAL_ERROR' }],
    [302, '', { reason: 'INVALID_AGENT_RESPONSE' }],
    [400, '{"error":{"code":400,"message":"Bad"}}', { reason: 'INVALID_REQUEST', message: 'Bad' }],
    [404, '{"code":-32001,"message":"Gone"}', { reason: 'TASK_NOT_FOUND', message: 'Gone' }],
    [
      409,
      '{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_CANCELABLE","domain":"a2a-protocol.org","metadata":{"n":1}}]}}',
      { reason: 'TASK_NOT_CANCELABLE', metadata: { n: '1' } },
    ],
  ])('makes an error of status %i with body %j [R-ERR-06]', (status, body, error) => {
    expect(() => httpJsonClient.decodeReply(call, reply(status, body))).toThrow(
      expect.objectContaining(error),
    );
  });

  it('makes an error of an event that carries one [R-STR-12]', () => {
    expect(() => httpJsonClient.decodeEvent(call, '{"error":{"code":503,"message":"Later"}}')).toThrow(
      expect.objectContaining({ reason: 'UNAVAILABLE', message: 'Later' }),
    );
    expect(() => httpJsonClient.decodeEvent(call, '[]')).toThrow(
      expect.objectContaining({ reason: 'INVALID_AGENT_RESPONSE' }),
    );
  });
});
