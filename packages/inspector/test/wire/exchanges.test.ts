import { describe, expect, it } from 'vitest';
import { operationOf } from '../../src/wire/operation-of.ts';
import { recordedFetch, type Tap } from '../../src/wire/recorded-fetch.ts';
import { credentialsIn, receivedHeaders } from '../../src/wire/secrets.ts';
import { curlOf, grpcurlOf } from '../../src/wire/shell-line.ts';
import { WireLog } from '../../src/wire/wire-log.ts';

/** A log, what it told its listener, and a tap that notes everything. */
function wired() {
  const log = new WireLog();
  const tapped: unknown[] = [];
  const tap: Tap = {
    onRequest: (request) => tapped.push(request),
    onOpen: () => tapped.push('open'),
    onClose: (why) => tapped.push(['close', why]),
  };
  return { log, tap, tapped };
}

const streamed = (...chunks: (string | Error)[]) =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = chunks.shift();
      if (next === undefined) controller.close();
      else if (typeof next === 'string') controller.enqueue(new TextEncoder().encode(next));
      else controller.error(next);
    },
  });

const post = (body: string, headers: Record<string, string> = {}) =>
  new Request('http://a.example/x', { method: 'POST', body, headers });

describe('a request over HTTP', () => {
  it('is in the log from its beginning to its end', async () => {
    const { log, tap, tapped } = wired();
    const changes: string[] = [];
    const unlisten = log.listen(({ status = '-', responseBody }) =>
      changes.push(`${status} ${responseBody}`),
    );
    const send = recordedFetch(
      async () =>
        new Response('{"a":1}', {
          status: 201,
          statusText: 'Created',
          headers: { 'content-type': 'application/json' },
        }),
      log,
      tap,
    );
    const body = '{"jsonrpc":"2.0","method":"GetTask"}';
    const before = performance.now();
    const response = await send(post(body, { authorization: 'secret' }));
    expect([response.status, response.statusText, response.headers.get('content-type')]).toEqual([
      201,
      'Created',
      'application/json',
    ]);
    expect(log.exchanges[0]!.endMs).toBeUndefined();
    expect(await response.text()).toBe('{"a":1}');
    const [{ at, firstMs, endMs, ...exchange }] = log.exchanges as never as [Record<string, never>];
    expect(exchange).toEqual({
      number: 1,
      binding: 'JSONRPC',
      operation: 'GetTask',
      method: 'POST',
      url: 'http://a.example/x',
      requestHeaders: { authorization: '…', 'content-type': 'text/plain;charset=UTF-8' },
      requestBody: body,
      status: '201 Created',
      isError: false,
      isCut: false,
      responseHeaders: { 'content-type': 'application/json' },
      responseBody: '{"a":1}',
      shell: expect.stringMatching(
        /^curl -s -X POST http:\/\/a\.example\/x -H 'authorization: '"\$AUTHORIZATION" /,
      ),
    });
    expect(Date.parse(at!)).toBeGreaterThan(0);
    expect(firstMs).toBeGreaterThanOrEqual(0);
    expect(endMs).toBeGreaterThanOrEqual(Number(firstMs));
    expect(endMs).toBeLessThanOrEqual(performance.now() - before);
    expect(changes).toEqual(['- ', '201 Created {"a":1}', '201 Created {"a":1}']);
    expect(tapped).toEqual([{ isStream: false, operation: 'GetTask', after: undefined }]);
    unlisten();
    log.changed(log.exchanges[0]!);
    expect(changes).toHaveLength(3);
  });

  it.each(['application/json', 'text/plain'])(
    'of the type %s has letters that came in two parts',
    async (type) => {
      const { log } = wired();
      const whole = new TextEncoder().encode('"ä"');
      const parts = [whole.slice(0, 2), whole.slice(2)];
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const next = parts.shift();
          if (next) controller.enqueue(next);
          else controller.close();
        },
      });
      const send = recordedFetch(async () => new Response(body, { headers: { 'content-type': type } }), log);
      expect(await (await send(post('{}'))).text()).toBe('"ä"');
      expect(log.exchanges[0]!.responseBody).toBe('"ä"');
    },
  );

  it('may have neither a body nor an answer', async () => {
    const { log, tap, tapped } = wired();
    const send = recordedFetch(async () => new Response(null, { status: 404 }), log, tap);
    expect((await send(new Request('http://a.example/tasks/1'))).status).toBe(404);
    const [exchange] = log.exchanges;
    expect(exchange).toMatchObject({
      operation: 'GetTask',
      status: '404',
      isError: true,
      responseBody: '',
      endMs: expect.any(Number),
    });
    expect(exchange).not.toHaveProperty('requestBody');
    expect(tapped).toEqual([{ isStream: false, operation: 'GetTask' }]);
  });

  it('that is a stream is shown as it comes', async () => {
    const { log, tap, tapped } = wired();
    const headers = { accept: 'text/event-stream', 'last-event-id': '7' };
    const send = recordedFetch(
      async () => new Response(streamed('data: {"token":"x"}\n', 'data: 2\n')),
      log,
      tap,
    );
    const reader = (await send(post('{}', headers))).body!.getReader();
    await reader.read();
    expect(log.exchanges[0]!.responseBody).toBe('data: {"token":"x"}\n');
    expect(log.exchanges[0]!.endMs).toBeUndefined();
    while (!(await reader.read()).done);
    expect(log.exchanges[0]).toMatchObject({
      responseBody: 'data: {"token":"x"}\ndata: 2\n',
      endMs: expect.any(Number),
    });
    expect(tapped).toEqual([
      { isStream: true, operation: 'POST /x', after: '7' },
      'open',
      ['close', undefined],
    ]);
  });

  it.each([
    [401, 0],
    [200, 1],
  ])('that is a stream is open with the status %i: %i', async (status, opens) => {
    const { log, tap, tapped } = wired();
    const send = recordedFetch(async () => new Response('x', { status }), log, tap);
    await (await send(post('{}', { accept: 'text/event-stream' }))).text();
    expect(tapped.filter((each) => each === 'open')).toHaveLength(opens);
  });

  it('that is a stream ends when it breaks, and when its reader leaves', async () => {
    const { log, tap, tapped } = wired();
    const broken = Object.assign(new Error('terminated'), { cause: { code: 'ECONNRESET' } });
    const headers = { accept: 'text/event-stream' };
    const breaking = recordedFetch(async () => new Response(streamed('a', broken)), log, tap);
    await expect((await breaking(post('{}', headers))).text()).rejects.toThrow('terminated');
    expect(tapped.at(-1)).toEqual(['close', 'ECONNRESET']);
    let left: unknown;
    const endless = new ReadableStream({
      cancel(reason) {
        left = reason;
      },
    });
    const leaving = recordedFetch(async () => new Response(endless), log, tap);
    await (await leaving(post('{}', headers))).body!.cancel('enough');
    expect([tapped.at(-1), left]).toEqual([['close', undefined], 'enough']);
    for (const { endMs } of log.exchanges) expect(endMs).toBeGreaterThanOrEqual(0);
  });

  it.each<[unknown, string]>([
    [
      Object.assign(new Error('fetch failed'), { cause: { code: 'ECONNREFUSED', message: 'x' } }),
      'ECONNREFUSED',
    ],
    [Object.assign(new Error('fetch failed'), { cause: new Error('no such host') }), 'no such host'],
    [new Error('fetch failed'), 'fetch failed'],
    ['words', 'words'],
  ])('that fails with %s says why', async (error, why) => {
    const { log, tap, tapped } = wired();
    const send = recordedFetch(() => Promise.reject(error), log, tap);
    await expect(send(post('{}', { accept: 'text/event-stream' }))).rejects.toBe(error);
    expect(log.exchanges[0]).toMatchObject({
      isError: true,
      status: `no answer: ${why}`,
      endMs: expect.any(Number),
    });
    expect(tapped.at(-1)).toEqual(['close', why]);
  });

  it('that its client canceled says so', async () => {
    const { log } = wired();
    const stop = new AbortController();
    const send = recordedFetch(() => {
      stop.abort();
      return Promise.reject(stop.signal.reason);
    }, log);
    await expect(send(new Request('http://a.example', { signal: stop.signal }))).rejects.toThrow();
    expect(log.exchanges[0]!.status).toBe('canceled');
  });
});

describe('the log of an agent', () => {
  const draft = { operation: 'x', method: 'GET', url: 'http://a', requestHeaders: {}, shell: '' };

  it('has 64 kB of each body, and says whether there was more', () => {
    const log = new WireLog();
    const whole = log.add({ ...draft, requestBody: 'x'.repeat(65_536) });
    log.receive(whole, 'y'.repeat(65_535));
    log.receive(whole, 'y');
    expect(whole).toMatchObject({ isCut: false, responseBody: 'y'.repeat(65_536) });
    log.receive(whole, '');
    expect(whole.isCut).toBe(true);
    const long = log.add({ ...draft, requestBody: 'x'.repeat(65_537) });
    expect(long).toMatchObject({ isCut: true, requestBody: 'x'.repeat(65_536) });
    const answered = log.add(draft);
    log.receive(answered, 'y'.repeat(65_537));
    expect(answered).toMatchObject({ isCut: true, responseBody: 'y'.repeat(65_536) });
  });

  it('has the latest 300 exchanges, and those are new that begin', () => {
    const log = new WireLog();
    for (let n = 0; n < 300; n += 1) log.add(draft);
    expect([log.exchanges.length, log.exchanges[0]!.number]).toEqual([300, 1]);
    log.add(draft);
    expect([log.exchanges.length, log.exchanges[0]!.number, log.exchanges.at(-1)!.number]).toEqual([
      300, 2, 301,
    ]);
    expect(log.exchanges.at(-1)).toMatchObject({
      isError: false,
      isCut: false,
      responseBody: '',
      responseHeaders: {},
    });
  });
});

it.each([
  ['POST', 'http://a/x', '{"jsonrpc":"2.0","method":"GetTask"}', 'JSONRPC', 'GetTask'],
  ['POST', 'http://a/x', '{"jsonrpc":"2.0","method":7}', 'HTTP+JSON', 'POST /x'],
  ['POST', 'http://a/x', '{"jsonrpc"', 'HTTP+JSON', 'POST /x'],
  ['POST', 'http://a/x', '{"method":"GetTask"}', 'HTTP+JSON', 'POST /x'],
  ['POST', 'http://a/x/message:stream', undefined, 'HTTP+JSON', 'SendStreamingMessage'],
  ['GET', 'http://a/x/message:send', undefined, 'HTTP+JSON', 'GET x/message:send'],
  ['GET', 'http://a/.well-known/agent-card.json', undefined, undefined, 'agent card'],
  ['GET', 'http://a/card.json/x', undefined, 'HTTP+JSON', 'GET card.json/x'],
  ['GET', 'http://a/tasks/t', undefined, 'HTTP+JSON', 'GetTask'],
  ['GET', 'http://a/tasks/t:subscribe', undefined, 'HTTP+JSON', 'SubscribeToTask'],
  ['GET', 'http://a/tasks?pageSize=1', undefined, 'HTTP+JSON', 'ListTasks'],
  [
    'DELETE',
    'http://a/tasks/t/pushNotificationConfigs/2',
    undefined,
    'HTTP+JSON',
    'DeleteTaskPushNotificationConfig',
  ],
  ['POST', 'http://a/agents/x/message:send', undefined, 'HTTP+JSON', 'SendMessage'],
  ['GET', 'http://a/tasks/', undefined, 'HTTP+JSON', 'GET tasks/'],
  ['GET', 'http://a/tasks/t:other', undefined, 'HTTP+JSON', 'GET tasks/t:other'],
  ['POST', 'http://a/tasks/:cancel', undefined, 'HTTP+JSON', 'POST tasks/:cancel'],
  ['POST', 'http://a/tasks/t:cancel', undefined, 'HTTP+JSON', 'CancelTask'],
  ['GET', 'http://a/extendedAgentCard', undefined, 'HTTP+JSON', 'GetExtendedAgentCard'],
])('%s %s %s is %s %s', (method, url, body, binding, operation) => {
  expect(operationOf(method, url, body)).toEqual({ operation, ...(binding && { binding }) });
});

describe('a line for the shell', () => {
  const headers = { accept: 'text/event-stream', '9x-key': '…', 'x-a': "it's" };

  it('is one of curl, which does not wait for a stream', () => {
    expect(curlOf({ method: 'GET', url: 'http://a/b', headers: {} })).toBe('curl -s http://a/b');
    expect(curlOf({ method: 'GET', url: 'http://a/b', headers: { accept: 'x/y' } })).toBe(
      "curl -s http://a/b -H 'accept: x/y'",
    );
    expect(curlOf({ method: 'PUT', url: 'http://a/b?c=d&e', headers, body: '' })).toBe(
      `curl -sN -X PUT 'http://a/b?c=d&e' -H 'accept: text/event-stream' -H '9x-key: '"$_9X_KEY" -H 'x-a: it'\\''s' -d ''`,
    );
  });

  it.each([
    ['grpc://a:1', 'grpcurl -plaintext -d {} a:1 S/M'],
    ['a:1', 'grpcurl -plaintext -d {} a:1 S/M'],
    ['http://a:1/x', 'grpcurl -plaintext -d {} a:1 S/M'],
    ['https://a:1', 'grpcurl -d {} a:1 S/M'],
    ['GRPCS://a:1', 'grpcurl -d {} a:1 S/M'],
  ])('is one of grpcurl for %s', (url, line) => {
    expect(grpcurlOf({ method: 'S/M', url, headers: {} }).replace("'{}'", '{}')).toBe(line);
  });
});

it('credentials are the values of headers that are not of the protocol, and what follows their scheme', () => {
  const headers = {
    Authorization: 'Bearer a-long-secret',
    cookie: 'a=12345678; b=short, c=12345678901',
    'X-Key': '1234567',
    Accept: 'text/event-stream',
  };
  expect(credentialsIn(headers)).toEqual([
    'Bearer a-long-secret',
    'a-long-secret',
    'a=12345678; b=short, c=12345678901',
    '12345678',
    '12345678901',
  ]);
  expect(receivedHeaders(new Headers({ 'set-cookie': 'a', 'x-a': 'b' }))).toEqual({
    'set-cookie': '…',
    'x-a': 'b',
  });
});

describe('a log with a bound', () => {
  const draft = { operation: 'x', method: 'GET', url: 'http://a', requestHeaders: {}, shell: '' };
  const numbers = (log: WireLog) => log.exchanges.map(({ number }) => number);

  it('counts two bytes for each character of what it keeps', () => {
    // 8 of the URL, 2 of a line, 3 of a header, and bodies.
    const begun = { ...draft, shell: 'ab', requestHeaders: { a: 'bc' }, requestBody: 'x'.repeat(7) };
    const log = new WireLog({ exchanges: 9, bytes: 2 * 60 });
    const first = log.add(begun);
    first.responseHeaders = { abc: 'de' };
    log.receive(first, 'y'.repeat(5));
    const second = log.add(begun);
    log.send(second, 'z'.repeat(17));
    // 30 and 30.
    expect(numbers(log)).toEqual([1, 2]);
    log.receive(second, 'y');
    expect(numbers(log)).toEqual([2]);
    // What has made way may go on, and takes no more room.
    log.receive(first, 'y'.repeat(1_000));
    log.receive(second, 'y'.repeat(29));
    log.add({ ...draft, url: '' });
    expect(numbers(log)).toEqual([2, 3]);
    log.receive(second, 'y');
    expect(numbers(log)).toEqual([3]);
  });

  it('forgets all with its listeners, and counts on', () => {
    const log = new WireLog({ exchanges: 2, bytes: 100 });
    let told = 0;
    log.listen(() => (told += 1));
    const first = log.add(draft);
    log.clear();
    log.receive(first, 'y'.repeat(200));
    expect([numbers(log), told]).toEqual([[], 1]);
    log.add(draft);
    log.add(draft);
    expect(numbers(log)).toEqual([2, 3]);
  });
});
