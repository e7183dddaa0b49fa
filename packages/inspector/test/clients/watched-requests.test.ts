import { completed } from '@batonjs/server';
import { insideOf, type WatchedStart } from '@batonjs/server/internals';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { ClientRequests } from '../../src/clients/client-requests.ts';

/** The requests of a server, of which the test tells each step of one. */
function watched() {
  const server = serve(
    async function* () {
      yield completed();
    },
    { name: 'one' },
  );
  const requests = new ClientRequests({}, [{ id: 'one', server, url: 'http://one.example' }]);
  onTestFinished(() => requests.close());
  const begin = (more: Partial<WatchedStart> = {}) =>
    insideOf(server)!.watch.begin({
      method: 'POST',
      path: '/message:send',
      query: new URLSearchParams(),
      headers: {},
      ...more,
    });
  return { requests, begin, last: () => requests.log.exchanges.at(-1)! };
}

const bytes = (text: string) => ({ bytes: new TextEncoder().encode(text) });

it('a request is in the log from its beginning to its end, and each step is told', () => {
  const { requests, begin, last } = watched();
  const told: unknown[] = [];
  const before = performance.now();
  requests.log.listen(({ caller, status, responseBody, requestBody, endMs, binding }) =>
    told.push([binding, caller, requestBody, status, responseBody, endMs !== undefined]),
  );
  const request = begin({
    query: new URLSearchParams('tenant=t&key=abcd'),
    headers: { 'content-type': 'application/json', 'x-key': 'abcdefgh', host: 'a', 'x-forwarded-for': 'b' },
  });
  expect(last()).toMatchObject({
    agent: 'one',
    operation: 'SendMessage',
    method: 'POST',
    url: 'http://one.example/message:send?tenant=t&key=…',
    requestHeaders: { 'content-type': 'application/json', 'x-key': '…', host: 'a', 'x-forwarded-for': 'b' },
    shell: '',
  });
  request.named({ operation: undefined, binding: 'HTTP+JSON', version: '1.0' });
  request.calledBy(undefined);
  request.sent(bytes('{"token":"x"}'));
  request.answered('200', false, {
    'set-cookie': 'a',
    'WWW-Authenticate': 'b',
    'content-type': 'application/json',
  });
  request.said('{"a":"abcdefgh"}');
  request.ended();
  const body = '{"token":"…"}';
  expect(told).toEqual([
    [undefined, undefined, undefined, undefined, '', false],
    ['HTTP+JSON', undefined, undefined, undefined, '', false],
    ['HTTP+JSON', 'anonymous', undefined, undefined, '', false],
    ['HTTP+JSON', 'anonymous', body, undefined, '', false],
    ['HTTP+JSON', 'anonymous', body, '200', '', false],
    ['HTTP+JSON', 'anonymous', body, '200', '{"a":"…"}', false],
    ['HTTP+JSON', 'anonymous', body, '200', '{"a":"…"}', true],
  ]);
  expect(last()).toMatchObject({
    operation: 'SendMessage',
    version: '1.0',
    isError: false,
    responseHeaders: { 'set-cookie': '…', 'WWW-Authenticate': '…', 'content-type': 'application/json' },
    shell:
      `curl -s -X POST 'http://one.example/message:send?tenant=t&key=…' ` +
      `-H 'content-type: application/json' -H 'x-key: '"$X_KEY" -d '{"token":"…"}'`,
  });
  expect(last().firstMs).toBeLessThanOrEqual(last().endMs!);
  expect(last().endMs).toBeLessThanOrEqual(performance.now() - before);
});

it.each([
  ['host', 'connection', 'content-length', 'content-encoding', 'user-agent', 'accept-language', 'te'],
  ['transfer-encoding', 'upgrade', 'upgrade-insecure-requests', 'sec-fetch-mode', 'grpc-timeout'],
  ['x-forwarded-proto', 'x-request-id', 'traceparent', 'tracestate'],
])('a line for the shell leaves %s to the client', (...names) => {
  const { begin, last } = watched();
  begin({ headers: Object.fromEntries([...names, 'origin'].map((name) => [name, 'x'])) }).ended();
  expect(last().shell).toBe("curl -s -X POST http://one.example/message:send -H 'origin: x'");
});

it.each(['my-host', 'hosts', 'x-connection', 'x-te', 'tea', 'x-trace', 'accept', 'x-sec-a', 'x-upgrade'])(
  'a line for the shell has the header %s',
  (name) => {
    const { begin, last } = watched();
    begin({ headers: { [name]: 'x' } }).ended();
    expect(last().shell).toContain(` -H '${name}: `);
  },
);

it('a call of gRPC has the address of the agent, lines of JSON, and a line of grpcurl', () => {
  const { begin, last } = watched();
  const request = begin({ path: '/lf.a2a.v1.A2AService/X', baseUrl: 'http://two.example:1' });
  expect(last().url).toBe('http://two.example:1/lf.a2a.v1.A2AService/X');
  request.named({ operation: 'GetTask', binding: 'GRPC', version: '1.0' });
  request.sent({ value: { id: 't', token: 'x' } });
  request.answered('NOT_FOUND', true, {});
  request.said('{"token":"y"}\n{"a":1}\n');
  request.ended();
  expect(last()).toMatchObject({
    operation: 'GetTask',
    method: 'lf.a2a.v1.A2AService/GetTask',
    url: 'http://two.example:1',
    status: 'NOT_FOUND',
    isError: true,
    requestBody: '{"id":"t","token":"…"}',
    responseBody: '{"token":"…"}\n{"a":1}\n',
    shell: `grpcurl -plaintext -d '{"id":"t","token":"…"}' two.example:1 lf.a2a.v1.A2AService/GetTask`,
  });
  const unknown = begin();
  unknown.named({ operation: 'GetTask', binding: 'GRPC', version: '1.0' });
  expect(last().url).toBe('http://one.example');
});

it('a request over another binding has lines of JSON, and no line where no program of a shell speaks it', () => {
  const { begin, last } = watched();
  const request = begin({ baseUrl: 'ws://two.example' });
  request.named({
    operation: 'SendMessage',
    binding: 'https://batonjs.dev/bindings/websocket/v1',
    version: '1.0',
  });
  request.sent({ value: undefined });
  request.said('{"token":"y"}\n{"a":1}');
  request.ended();
  expect(last()).toMatchObject({ requestBody: '', responseBody: '{"token":"…"}\n{"a":1}', shell: '' });
});

it.each([
  ['application/json', 'JSONRPC', '…'],
  ['text/event-stream; charset=utf-8', 'JSONRPC', 'data: {"a":1}'],
  [undefined, 'HTTP+JSON', '…'],
  [undefined, undefined, '…'],
  [undefined, 'XHTTP+JSON', 'data: {"a":1}'],
  [undefined, 'JSONRPC2', 'data: {"a":1}'],
])('events in an answer of the type %s over %s are %s', (type, binding, shown) => {
  const { begin, last } = watched();
  const request = begin();
  if (binding) request.named({ operation: 'x', binding, version: '1.0' });
  request.answered('200', false, type ? { 'content-type': type } : {});
  request.said('data: {"a":1}');
  expect(last().responseBody).toBe(shown);
});

it.each([
  ['last', { last: 0 }],
  ['last', { last: Number.NaN }],
  ['bytes', { bytes: 0 }],
  ['bytes', { bytes: -1 }],
])('a bound that keeps nothing is refused by its name: %s', (name, options) => {
  expect(() => new ClientRequests(options, [])).toThrow(
    new TypeError(`\`clientRequests.${name}\` must be a number above 0`),
  );
});
