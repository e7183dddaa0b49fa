import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type ErrorRow, errorTable } from '@batonjs/protocol/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leavesNoTrace, prepare } from '../../../test/kit/http/known-tasks.ts';
import { type Served, secret, serveHttp } from '../../../test/kit/http/serve-http.ts';
import { type Known, said, wrongSends } from '../../../test/kit/http/wrong-sends.ts';
import { attachWebSocket, type WebSocketEndpoint } from '../src/index.ts';
import { type Frame, type RawSocket, rawSocket } from './raw-socket.ts';

let served: Served;
let known: Known;
let listener: Server;
let endpoint: WebSocketEndpoint;
beforeAll(async () => {
  served = await serveHttp();
  known = await prepare(served);
  listener = createServer();
  endpoint = attachWebSocket(served.server, listener);
  await once(listener.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await endpoint.close({ graceMs: 0 });
  listener.close();
  await served.close();
});

/** Checks the form of an error: its code is that of its reason, and nothing from inside shows. */
function expectError(frame: Frame, reason: string, fields?: readonly string[]): void {
  const { code, message, data } = frame.error;
  const row = (errorTable as Record<string, ErrorRow>)[reason]!;
  expect(data[0]).toMatchObject({ reason, domain: row.domain ?? 'a2a-protocol.org' });
  expect(code).toBe(row.jsonRpc);
  expect(message).not.toBe('');
  if (fields) {
    const { fieldViolations = [] } = data[1] ?? {};
    expect(fieldViolations.map(({ field }: { field: string }) => field).sort()).toEqual([...fields].sort());
  }
  expect(JSON.stringify(frame)).not.toContain(secret);
}

const stillWorks = async (socket: RawSocket) =>
  expect(await socket.next(socket.request('ListTasks'))).toHaveProperty('result');

describe('SendMessage over WebSocket refuses what JSON-RPC refuses [R-SEND-12] [R-CB-02]', () => {
  it.each(wrongSends)('$what: $reason', async ({ params, reason, fields = [] }) => {
    const given = typeof params === 'function' ? params(known) : params;
    await leavesNoTrace(served, async () => {
      const socket = await rawSocket(endpoint.url!);
      const answer = await socket.next(socket.request('SendMessage', given));
      expectError(answer, reason, fields);
    });
  });

  it.each(wrongSends.filter((_, index) => index % 9 === 0))(
    'before it streams: $what: $reason',
    async ({ params, reason, fields = [] }) => {
      const given = typeof params === 'function' ? params(known) : params;
      const socket = await rawSocket(endpoint.url!);
      const id = socket.request('SendStreamingMessage', given);
      const answer = await socket.next(id);
      expectError(answer, reason, fields);
      // An error is the end of a stream: no streamEnd follows.
      await stillWorks(socket);
      expect(socket.frames.filter((frame) => frame.id === id)).toEqual([answer]);
    },
  );
});

const version = { 'a2a-version': '1.0' };
const request = (wrong: object) => ({
  jsonrpc: '2.0',
  id: 'r',
  method: 'ListTasks',
  params: {},
  serviceParams: version,
  ...wrong,
});
const cancel = (wrong: object) => ({ jsonrpc: '2.0', id: 'r', cancelStream: true, ...wrong });
const authenticate = (params: unknown) => request({ method: 'Authenticate', params });
const nested = (levels: number) => `{"id":"r","params":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const wide = () => Object.fromEntries(Array.from({ length: 50_001 }, (_, number) => [`m${number}`, 0]));

type Row = [
  what: string,
  frame: unknown,
  reason: string,
  fields: readonly string[] | undefined,
  id?: string | number | null,
];

// biome-ignore format: a table reads best with one row per line
const frames: readonly Row[] = [
  ['a list', [], 'INVALID_REQUEST', [''], null],
  ['a list of requests', [request({})], 'INVALID_REQUEST', [''], null],
  ['null', 'null', 'INVALID_REQUEST', [''], null],
  ['a number', '7', 'INVALID_REQUEST', [''], null],
  ['text', '"ListTasks"', 'INVALID_REQUEST', [''], null],
  ['true', 'true', 'INVALID_REQUEST', [''], null],
  ['nothing in it', {}, 'INVALID_REQUEST', ['id', 'method'], null],
  ['another jsonrpc', request({ jsonrpc: '1.0' }), 'INVALID_REQUEST', ['jsonrpc']],
  ['jsonrpc as a number', request({ jsonrpc: 2 }), 'INVALID_REQUEST', ['jsonrpc']],
  ['jsonrpc null', request({ jsonrpc: null }), 'INVALID_REQUEST', ['jsonrpc']],
  ['no id', request({ id: undefined }), 'INVALID_REQUEST', ['id'], null],
  ['an id that is null', request({ id: null }), 'INVALID_REQUEST', ['id'], null],
  ['an id that is true', request({ id: true }), 'INVALID_REQUEST', ['id'], null],
  ['an id that is an object', request({ id: {} }), 'INVALID_REQUEST', ['id'], null],
  ['an id that is a list', request({ id: ['r'] }), 'INVALID_REQUEST', ['id'], null],
  ['an id beyond 2^53', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ListTasks"}', 'INVALID_REQUEST', ['id'], null],
  ['an id of 257 characters', request({ id: 'x'.repeat(257) }), 'INVALID_REQUEST', ['id'], null],
  ['no method', request({ method: undefined }), 'INVALID_REQUEST', ['method']],
  ['a method that is null', request({ method: null }), 'INVALID_REQUEST', ['method']],
  ['a method that is a number', request({ method: 7 }), 'INVALID_REQUEST', ['method']],
  ['a method that is an object', request({ method: {} }), 'INVALID_REQUEST', ['method']],
  ['an empty method', request({ method: '' }), 'METHOD_NOT_FOUND', []],
  ['an unknown method', request({ method: 'FlyToMoon' }), 'METHOD_NOT_FOUND', []],
  ['a method in other letters', request({ method: 'listTasks' }), 'METHOD_NOT_FOUND', []],
  ['a method of 0.3', request({ method: 'message/send' }), 'METHOD_NOT_FOUND', []],
  ['a method of every object', request({ method: 'constructor' }), 'METHOD_NOT_FOUND', []],
  ['params that are a list', request({ params: [] }), 'INVALID_PARAMS', ['params']],
  ['params that are text', request({ params: '{}' }), 'INVALID_PARAMS', ['params']],
  ['params that are a number', request({ params: 0 }), 'INVALID_PARAMS', ['params']],
  ['params of another operation', request({ method: 'GetTask', params: { taskId: 't' } }), 'INVALID_PARAMS', ['id']],
  ['a page size that is too large', request({ params: { pageSize: 1_000 } }), 'INVALID_PARAMS', ['pageSize']],
  ['a webhook without a URL', request({ method: 'CreateTaskPushNotificationConfig', params: { taskId: 't' } }), 'PUSH_NOTIFICATION_NOT_SUPPORTED', undefined],
  ['serviceParams that are a list', request({ serviceParams: [] }), 'INVALID_REQUEST', ['serviceParams']],
  ['serviceParams that are text', request({ serviceParams: 'a2a-version: 1.0' }), 'INVALID_REQUEST', ['serviceParams']],
  ['a service parameter that is a number', request({ serviceParams: { 'a2a-version': 1 } }), 'INVALID_REQUEST', ['serviceParams.a2a-version']],
  ['a service parameter that is a list', request({ serviceParams: { 'a2a-extensions': ['a'] } }), 'INVALID_REQUEST', ['serviceParams.a2a-extensions']],
  ['a service parameter that is null', request({ serviceParams: { 'a2a-version': null } }), 'INVALID_REQUEST', ['serviceParams.a2a-version']],
  ['a service parameter of two lines', request({ serviceParams: { ...version, x: 'a\r\nb: c' } }), 'INVALID_REQUEST', ['serviceParams.x']],
  ['a service parameter with a NUL', request({ serviceParams: { ...version, x: '\0' } }), 'INVALID_REQUEST', ['serviceParams.x']],
  ['a service parameter without a name', request({ serviceParams: { ...version, '': 'x' } }), 'INVALID_REQUEST', ['serviceParams']],
  ['a name with a space', request({ serviceParams: { ...version, 'a b': 'x' } }), 'INVALID_REQUEST', ['serviceParams']],
  ['a name of two lines', request({ serviceParams: { ...version, 'a\n': 'x' } }), 'INVALID_REQUEST', ['serviceParams']],
  ['too many service parameters', request({ serviceParams: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`x${n}`, ''])) }), 'INVALID_REQUEST', ['serviceParams']],
  ['extensions that are required by nobody, and no task', request({ method: 'GetTask', params: { id: 'none' }, serviceParams: { ...version, 'a2a-extensions': ',,' } }), 'TASK_NOT_FOUND', undefined],
  ['a position of another log', request({ method: 'SubscribeToTask', params: { id: 'none' }, serviceParams: { ...version, 'last-event-id': 'x.1~y' } }), 'TASK_NOT_FOUND', undefined],
  ['a stream of a task that there is not', request({ method: 'SubscribeToTask', params: { id: 'none' } }), 'TASK_NOT_FOUND', undefined],
  ['a cancel without an id', cancel({ id: undefined }), 'INVALID_REQUEST', ['id'], null],
  ['a cancel of an id that is null', cancel({ id: null }), 'INVALID_REQUEST', ['id'], null],
  ['a cancel with a method', cancel({ method: 'ListTasks' }), 'INVALID_REQUEST', ['method']],
  ['a cancel that is text', cancel({ cancelStream: 'true' }), 'INVALID_REQUEST', ['cancelStream', 'method']],
  ['a cancel that is 1', cancel({ cancelStream: 1 }), 'INVALID_REQUEST', ['cancelStream', 'method']],
  ['a cancel that is false', cancel({ cancelStream: false }), 'INVALID_REQUEST', ['method']],
  ['a cancel of another jsonrpc', cancel({ jsonrpc: '3.0' }), 'INVALID_REQUEST', ['jsonrpc']],
  ['credentials without params', authenticate(undefined), 'INVALID_PARAMS', ['credentials', 'scheme']],
  ['credentials that are text', authenticate('Bearer x'), 'INVALID_PARAMS', ['params']],
  ['credentials without a scheme', authenticate({ credentials: 'x' }), 'INVALID_PARAMS', ['scheme']],
  ['a scheme of two lines', authenticate({ scheme: 'Bearer\r\nx', credentials: 'x' }), 'INVALID_PARAMS', ['scheme']],
  ['empty credentials', authenticate({ scheme: 'Bearer', credentials: '' }), 'INVALID_PARAMS', ['credentials']],
  ['credentials of two lines', authenticate({ scheme: 'Bearer', credentials: 'x\ny' }), 'INVALID_PARAMS', ['credentials']],
  ['JSON that is nested too deeply', nested(101), 'INVALID_REQUEST', ['']],
  ['the same with its id at the end', `{"params":${nested(101)},"id":"r"}`, 'INVALID_REQUEST', [''], null],
  ['a number that no double holds', '{"id":"r","params":1e400}', 'INVALID_REQUEST', ['']],
  ['too many members', request({ params: wide() }), 'INVALID_REQUEST', ['']],
];

describe('a frame is refused, and the connection goes on, that is or has', () => {
  it.each<Row>(frames)('%s', async (_, frame, reason, fields, id = 'r') => {
    const socket = await rawSocket(endpoint.url!);
    await leavesNoTrace(served, async () => {
      socket.send(frame);
      const answer = await socket.next();
      expect([answer.jsonrpc, answer.id]).toEqual(['2.0', id]);
      expectError(answer, reason, fields);
      await stillWorks(socket);
    });
  });

  it.each([
    ['message/send', 'in 1.0 it is SendMessage'],
    ['tasks/resubscribe', 'in 1.0 it is SubscribeToTask'],
  ])('%s, which is of 0.3: the message says so', async (method, hint) => {
    const socket = await rawSocket(endpoint.url!);
    expect((await socket.next(socket.request(method))).error.message).toContain(hint);
  });
});

/** What is text of a message, but no JSON: the connection cannot be trusted any more. */
const noJson = [
  '',
  ' ',
  '{',
  '{"id":1',
  "{'id':1}",
  'GET / HTTP/1.1',
  '{"id":1}{"id":2}',
  '\u0000',
  'undefined',
];

describe('a frame is refused, and ends the connection, that is', () => {
  it.each(noJson)('%j', async (text) => {
    const socket = await rawSocket(endpoint.url!);
    socket.send(text);
    const answer = await socket.next();
    expect(answer.id).toBeNull();
    expectError(answer, 'PARSE_ERROR');
    expect(await socket.closed).toBe(1002);
  });

  it('one of several: those after it are not read', async () => {
    const socket = await rawSocket(endpoint.url!);
    socket.send('{');
    for (let n = 0; n < 5; n++) socket.request('SendMessage', { message: said() });
    await socket.closed;
    expect(socket.frames).toHaveLength(1);
  });
});

describe('bytes that are no frames end the connection', () => {
  it.each<[string, number[], number]>([
    ['without a mask', [0x81, 0x02, 0x7b, 0x7d], 1002],
    ['of a reserved opcode', [0x83, 0x80, 0, 0, 0, 0], 1002],
    ['with reserved bits', [0xf1, 0x80, 0, 0, 0, 0], 1002],
    ['that go on with nothing', [0x80, 0x80, 0, 0, 0, 0], 1002],
    ['of a ping that is too long', [0x89, 0xfe, 0, 200, 0, 0, 0, 0], 1002],
    ['of more bytes than a message may have', [0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 1009],
    [
      'of more bytes than there are numbers',
      [0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0],
      1009,
    ],
  ])('%s', async (_, bytes, code) => {
    const socket = await rawSocket(endpoint.url!);
    (socket.ws as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.from(bytes));
    expect(await socket.closed).toBe(code);
    await stillWorks(await rawSocket(endpoint.url!));
  });
});
