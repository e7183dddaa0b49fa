import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { jsonRpcClient, jsonRpcServer, SharedJson } from '../src/index.ts';
import { refusal, request } from './exchange.ts';

const envelope = (members: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 't-1' }, ...members });
const call = { operation: 'GetTask', params: { id: 't-1' } } as const;
const reply = (status: number, body: string, headers: Record<string, string> = {}) => ({
  status,
  body,
  headers: new Headers(headers),
});
const info = (members: object) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...members });

describe('the JSON-RPC server', () => {
  it('answers the mount itself and nothing below', () => {
    expect(
      ['', '/', '/tasks', '/message:send'].map((path) => jsonRpcServer.matches(request(`POST ${path}`))),
    ).toEqual([true, true, false, false]);
  });

  it.each([
    ['a string', '"a"'],
    ['an empty string', '""'],
    ['an integer', '-7'],
    ['zero', '0'],
    ['a fraction', '1.5'],
    ['null', 'null'],
  ])('echoes an id that is %s, as JSON-RPC 2.0 §4 and §5 have it [R-RPC-03, R-RPC-04]', (_, id) => {
    const received = request(
      'POST /',
      `{"jsonrpc":"2.0","id":${id},"method":"GetTask","params":{"id":"t-1"}}`,
    );
    const decoded = jsonRpcServer.decodeCall(received);
    expect(decoded).toMatchObject({ operation: 'GetTask', params: { id: 't-1' }, id: JSON.parse(id) });
    for (const text of [
      jsonRpcServer.encodeResult(decoded, {}).body,
      jsonRpcServer.encodeStream(decoded).event(new SharedJson({})),
      jsonRpcServer.encodeError(new A2AError('TASK_NOT_FOUND'), received).body,
      jsonRpcServer.encodeStream(decoded).error(new A2AError('TASK_NOT_FOUND')),
    ]) {
      expect(JSON.parse(text as string)).toMatchObject({ jsonrpc: '2.0', id: JSON.parse(id) });
    }
  });

  it('takes params that are absent or null as empty [R-RPC-02]', () => {
    for (const params of [undefined, null]) {
      const decoded = jsonRpcServer.decodeCall(
        request('POST /', envelope({ method: 'GetExtendedAgentCard', params })),
      );
      expect(decoded.params).toEqual({});
    }
  });

  it.each([['application/json; charset=utf-8'], ['Application/JSON'], ['application/a2a+json']])(
    'takes the content type %s',
    (type) => {
      expect(
        jsonRpcServer.decodeCall(request('POST /', envelope(), { 'content-type': type })).operation,
      ).toBe('GetTask');
    },
  );

  const headers = (type: string) => ({ 'content-type': type });
  it.each<[string, ReturnType<typeof request>, reason: string, fields: string[] | undefined, id: unknown]>([
    ['a path below the mount', request('POST /tasks', envelope()), 'METHOD_NOT_FOUND', undefined, 1],
    ['another method', request('GET /'), 'METHOD_NOT_ALLOWED', undefined, null],
    [
      'another content type',
      request('POST /', envelope(), headers('text/plain')),
      'CONTENT_TYPE_NOT_SUPPORTED',
      undefined,
      1,
    ],
    [
      'a form',
      request('POST /', 'a=b', headers('application/x-www-form-urlencoded')),
      'CONTENT_TYPE_NOT_SUPPORTED',
      undefined,
      null,
    ],
    [
      'no content type',
      request('POST /', envelope(), headers('')),
      'CONTENT_TYPE_NOT_SUPPORTED',
      undefined,
      1,
    ],
    ['no body', request('POST /'), 'PARSE_ERROR', undefined, null],
    ['no JSON', request('POST /', '{"jsonrpc"'), 'PARSE_ERROR', undefined, null],
    [
      'too deep JSON',
      request('POST /', envelope({ params: { id: JSON.parse('['.repeat(200) + ']'.repeat(200)) } })),
      'INVALID_REQUEST',
      [''],
      null,
    ],
    ['a batch', request('POST /', `[${envelope()}]`), 'INVALID_REQUEST', [''], null],
    ['a string', request('POST /', '"GetTask"'), 'INVALID_REQUEST', [''], null],
    ['null', request('POST /', 'null'), 'INVALID_REQUEST', [''], null],
    ['an empty object', request('POST /', '{}'), 'INVALID_REQUEST', ['jsonrpc', 'id', 'method'], null],
    ['another version', request('POST /', envelope({ jsonrpc: '1.0' })), 'INVALID_REQUEST', ['jsonrpc'], 1],
    ['a notification', request('POST /', envelope({ id: undefined })), 'INVALID_REQUEST', ['id'], null],
    ['an id that was rounded', request('POST /', envelope({ id: 2 ** 53 })), 'INVALID_REQUEST', ['id'], null],
    ['true as id', request('POST /', envelope({ id: true })), 'INVALID_REQUEST', ['id'], null],
    ['an object as id', request('POST /', envelope({ id: {} })), 'INVALID_REQUEST', ['id'], null],
    [
      'a method that is no string',
      request('POST /', envelope({ method: 5 })),
      'INVALID_REQUEST',
      ['method'],
      1,
    ],
    ['an unknown method', request('POST /', envelope({ method: 'Toast' })), 'METHOD_NOT_FOUND', undefined, 1],
    [
      'a method of version 0.3',
      request('POST /', envelope({ method: 'message/send' })),
      'METHOD_NOT_FOUND',
      undefined,
      1,
    ],
    [
      'a method of Object',
      request('POST /', envelope({ method: 'toString' })),
      'METHOD_NOT_FOUND',
      undefined,
      1,
    ],
    ['params in a list', request('POST /', envelope({ params: ['t-1'] })), 'INVALID_PARAMS', ['params'], 1],
    ['params in a string', request('POST /', envelope({ params: 't-1' })), 'INVALID_PARAMS', ['params'], 1],
  ])(
    'refuses %s and still answers with the id it can read [R-RPC-03, R-RPC-04]',
    (_, received, reason, fields, id) => {
      expect(refusal(() => jsonRpcServer.decodeCall(received))).toEqual({ reason, fields });
      const { body } = jsonRpcServer.encodeError(new A2AError('INVALID_REQUEST'), received);
      expect(JSON.parse(body as string)).toMatchObject({ id, error: { code: -32600 } });
    },
  );

  it('names the method of 1.0 to those who ask for that of 0.3', () => {
    const messageOf = (method: string) => {
      try {
        jsonRpcServer.decodeCall(request('POST /', envelope({ method })));
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(messageOf('message/send')).toBe(
      'Method not found: message/send is a method of A2A 0.3; in 1.0 it is SendMessage',
    );
    expect(messageOf('constructor')).toBe('Method not found');
  });

  it('says errors with status 200, apart from those of HTTP itself [R-RPC-07]', () => {
    const statusOf = (error: A2AError) =>
      jsonRpcServer.encodeError(error, request('POST /', envelope())).status;
    for (const reason of [
      'PARSE_ERROR',
      'METHOD_NOT_FOUND',
      'INVALID_PARAMS',
      'TASK_NOT_FOUND',
      'INTERNAL_ERROR',
    ] as const) {
      expect(statusOf(new A2AError(reason))).toBe(200);
    }
    expect(statusOf(new A2AError('UNAUTHENTICATED'))).toBe(401);
    expect(statusOf(new A2AError('PERMISSION_DENIED'))).toBe(403);
    expect(statusOf(new A2AError('METHOD_NOT_ALLOWED'))).toBe(405);
    expect(statusOf(new A2AError('PAYLOAD_TOO_LARGE'))).toBe(413);
    expect(statusOf(new A2AError('UNSUPPORTED_MEDIA_TYPE'))).toBe(415);
    expect(statusOf(new A2AError('RESOURCE_EXHAUSTED'))).toBe(429);
    expect(statusOf(new A2AError('UNAVAILABLE'))).toBe(503);
  });

  it('says which method it allows', () => {
    const received = request('GET /');
    try {
      jsonRpcServer.decodeCall(received);
      expect.unreachable();
    } catch (error) {
      expect(jsonRpcServer.encodeError(A2AError.from(error), received)).toMatchObject({
        status: 405,
        headers: { allow: 'POST' },
      });
    }
  });
});

describe('the JSON-RPC client', () => {
  it('takes null for the empty result [R-RPC-09]', () => {
    expect(jsonRpcClient.decodeReply(call, reply(200, '{"jsonrpc":"2.0","id":1,"result":null}'))).toEqual({});
  });

  it.each<[string, string, number, string, object]>([
    [
      'a known reason',
      'TASK_NOT_FOUND',
      200,
      'T',
      { code: -1, message: 'T', data: [info({ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' })] },
    ],
    [
      'a known reason without domain',
      'TASK_NOT_FOUND',
      200,
      'T',
      { code: -1, message: 'T', data: [info({ reason: 'TASK_NOT_FOUND' })] },
    ],
    [
      'a reason of another domain',
      'TASK_NOT_CANCELABLE',
      200,
      'T',
      { code: -32002, message: 'T', data: [info({ reason: 'UNAVAILABLE', domain: 'x.example' })] },
    ],
    [
      'an unknown reason',
      'INTERNAL_ERROR',
      200,
      'T',
      { code: -1, message: 'T', data: [info({ reason: 'TOAST' })] },
    ],
    ['a code only', 'UNSUPPORTED_OPERATION', 200, 'T', { code: -32004, message: 'T' }],
    ['a code with a status', 'TASK_NOT_FOUND', 404, 'T', { code: -32001, message: 'T' }],
    ['a standard code', 'INVALID_PARAMS', 200, 'T', { code: -32602, message: 'T', data: 'anything' }],
    [
      'a standard code with a status that knows better',
      'UNAUTHENTICATED',
      401,
      'T',
      { code: -32603, message: 'T' },
    ],
    [
      'an unknown code with a status',
      'PERMISSION_DENIED',
      403,
      'T',
      { code: -1, message: 'T', data: { a: 1 } },
    ],
    [
      'a standard code with a status that says less',
      'INVALID_PARAMS',
      400,
      'T',
      { code: -32602, message: 'T' },
    ],
    ['nothing at all', 'INTERNAL_ERROR', 200, 'Internal error', {}],
  ])('finds the reason of an error with %s [R-ERR-06, R-RPC-11]', (_, reason, status, message, error) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error });
    expect(() => jsonRpcClient.decodeReply(call, reply(status, body))).toThrow(
      expect.objectContaining({ reason, message }),
    );
  });

  it('keeps an ErrorInfo that it does not know', () => {
    const unknown = info({ reason: 'TOAST', domain: 'x.example' });
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: 'x', data: [unknown, 'junk', null] },
    });
    expect(() => jsonRpcClient.decodeReply(call, reply(500, body))).toThrow(
      expect.objectContaining({ reason: 'INTERNAL_ERROR', details: [unknown] }),
    );
  });

  it.each<[number, string, string]>([
    [200, '<html>', 'INVALID_AGENT_RESPONSE'],
    [200, '', 'INVALID_AGENT_RESPONSE'],
    [200, '{"id":"t-1"}', 'INVALID_AGENT_RESPONSE'],
    [200, '[]', 'INVALID_AGENT_RESPONSE'],
    [401, '', 'UNAUTHENTICATED'],
    [401, '{"error":"unauthorized"}', 'UNAUTHENTICATED'],
    [404, '<html>', 'METHOD_NOT_FOUND'],
    [413, 'too big', 'PAYLOAD_TOO_LARGE'],
    [502, '<html>', 'UNAVAILABLE'],
    [418, '{}', 'INVALID_AGENT_RESPONSE'],
  ])('makes an error of a reply with status %i and body %j', (status, body, reason) => {
    expect(() => jsonRpcClient.decodeReply(call, reply(status, body, { 'retry-after': '5' }))).toThrow(
      expect.objectContaining(status === 200 ? { reason } : { reason, retryAfter: 5 }),
    );
  });

  it.each(['<html>', '[]', '{"jsonrpc":"2.0","id":1}'])('refuses the event %j', (data) => {
    expect(() => jsonRpcClient.decodeEvent(call, data)).toThrow(
      expect.objectContaining({ reason: 'INVALID_AGENT_RESPONSE' }),
    );
  });
});
