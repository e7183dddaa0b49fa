import { createServer } from 'node:http';
import { A2AError } from '@batonjs/protocol/errors';
import { completed, type HttpExchange, reply } from '@batonjs/server';
import { StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { createTaskGateway, type TaskGatewayOptions } from '@batonjs/task-gateway';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { change } from '../../../test/kit/faulty-store.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { serveTasks } from './service.ts';
import { openSocket } from './socket.ts';

/** A gateway that is called without a network, as an adapter calls it. */
function called(options: Partial<TaskGatewayOptions> = {}) {
  const logged: unknown[][] = [];
  const logger = (...entry: unknown[]) => logged.push(entry);
  const gateway = closedAfterTest(createTaskGateway({ types: {}, logger, ...options }));
  const call = async (
    method: string,
    target: string,
    more: Partial<HttpExchange> & { body?: unknown } = {},
  ) => {
    const { body, headers = { 'content-type': 'application/json' }, ...rest } = more;
    const [path = '', query] = target.split('?');
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    const exchange = {
      method,
      path,
      query: new URLSearchParams(query),
      headers,
      signal: new AbortController().signal,
      readBody: async () => ({ bytes: new TextEncoder().encode(text) }),
      ...rest,
    } as unknown as HttpExchange;
    const answer = await gateway.handle(exchange);
    return { status: answer.status, headers: answer.headers, body: JSON.parse(String(answer.body)) };
  };
  return { gateway, call, logged };
}

const task = { taskId: 'a/b', type: 'none', data: {} };

describe('where a new task is', () => {
  it.each<[string | undefined, string | undefined, string]>([
    [undefined, undefined, '/task/a%2Fb'],
    [undefined, 'http://here.example/base', 'http://here.example/base/task/a%2Fb'],
    ['https://tasks.example', 'http://here.example', 'https://tasks.example/task/a%2Fb'],
    ['https://tasks.example/base//', undefined, 'https://tasks.example/base/task/a%2Fb'],
  ])('with the `publicUrl` %s at %s is %s', async (publicUrl, baseUrl, location) => {
    const { call } = called({ ...(publicUrl && { publicUrl }) });
    const posted = await call('POST', '/task', { body: task, ...(baseUrl && { baseUrl }) });
    expect([posted.status, posted.headers.location]).toEqual([202, location]);
    const again = await call('POST', '/task', { body: task, ...(baseUrl && { baseUrl }) });
    expect([again.status, again.headers.location]).toEqual([200, location]);
  });
});

describe('a route', () => {
  const nothing = 'There is nothing at this path';
  it.each<[string, string, number, string | undefined]>([
    ['GET', '/task', 200, undefined],
    ['GET', '/task/', 200, undefined],
    ['GET', '/task//', 404, nothing],
    ['GET', '/x/task', 404, nothing],
    ['GET', '/tasks', 404, nothing],
    ['GET', '/x/task/t', 404, nothing],
    ['GET', '/task/t/', 404, nothing],
    ['GET', '/task/t', 404, 'There is no such task'],
    ['GET', '/task/t/history', 404, 'There is no such task'],
    ['GET', '/x/task/t/history', 404, nothing],
    ['GET', '/task/t/history/x', 404, nothing],
    ['POST', '/task/t/cancel', 404, 'There is no such task'],
    ['POST', '/x/task/t/cancel', 404, nothing],
    ['POST', '/task/t/cancel/x', 404, nothing],
    ['POST', '/x/task/t/input', 404, nothing],
    ['POST', '/task/t/input/x', 404, nothing],
    ['GET', '/task/%ff', 404, 'There is no such task'],
    ['GET', '/task/updates', 404, 'Updates are sent over a WebSocket only'],
    ['DELETE', '/task', 405, 'Use POST, GET'],
    ['POST', '/task/t', 405, 'Use GET'],
    ['GET', '/task/t/cancel', 405, 'Use POST'],
    ['GET', '/task/t/input', 405, 'Use POST'],
    ['POST', '/task/t/history', 405, 'Use GET'],
    ['constructor', '/task', 405, 'Use POST, GET'],
    ['POST', '/task/t/cancel?x=1', 400, 'There is no parameter "x"'],
    ['POST', '/task/t/input?x=1', 400, 'There is no parameter "x"'],
    ['POST', '/task?x=1', 400, 'There is no parameter "x"'],
  ])('%s %s is answered with %i', async (method, target, status, message) => {
    const { call, logged } = called();
    const answer = await call(method, target, { body: { values: {} } });
    expect([answer.status, answer.body.error?.message]).toEqual([status, message]);
    expect(answer.headers.allow).toBe(status === 405 ? message!.replace('Use ', '') : undefined);
    expect(logged).toEqual([]);
  });

  it('that an adapter refused is answered with that', async () => {
    const refusal = new A2AError('PAYLOAD_TOO_LARGE', 'Too large');
    expect(await called().call('GET', '/task', { refusal })).toMatchObject({
      status: 413,
      body: { error: { message: 'Too large' } },
    });
  });

  it('of a task that exists may be waited for, for which its updates count', async () => {
    const { call } = called();
    await call('POST', '/task', { body: task });
    expect((await call('GET', '/task/a%2Fb?wait=60')).body).toMatchObject({ taskId: 'a/b' });
    expect((await call('GET', '/task/none?wait=60')).body.error.code).toBe('TASK_NOT_FOUND');
  });

  it('knows nothing any more once the gateway closed, but who asks', async () => {
    const { gateway, call } = called();
    await gateway.close();
    expect(await gateway.ready()).toBe(false);
    expect(await call('GET', '/task')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: { code: 'UNAVAILABLE', message: 'The server is closing' } },
    });
    expect((await call('GET', '/nothing')).status).toBe(404);
  });
});

describe('a body', () => {
  const media = 'The body must be application/json';
  it.each<[string | undefined, number]>([
    ['application/json', 202],
    ['application/json; charset=utf-8', 202],
    [' APPLICATION/JSON ', 202],
    ['application/vnd.task+json', 202],
    ['application/jsonx', 415],
    ['xapplication/json', 415],
    ['application/json5', 415],
    ['text/plain', 415],
    ['', 415],
    [undefined, 415],
  ])('of the type %j is answered with %i', async (type, status) => {
    const { call } = called();
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await call('POST', '/task', { headers: headers as Record<string, string>, body: task });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.body.error.message).toBe(media);
  });

  const json = { 'content-type': 'application/json' };
  const text = JSON.stringify(task);
  const large = { status: 413, message: 'The body is larger than 100 bytes' };
  it.each<[string, Partial<HttpExchange>, { readonly status: number; readonly message?: string }]>([
    ['as long as may be', { headers: { ...json, 'content-length': '100' } }, { status: 202 }],
    ['that says that it is longer', { headers: { ...json, 'content-length': '101' } }, large],
    ['that is longer', { readBody: async () => ({ longerThan: 100 }) as never }, large],
    ['of which nothing came', { readBody: async () => undefined as never }, large],
    [
      'that breaks off',
      { readBody: () => Promise.reject(new Error('secret')) },
      { status: 400, message: 'The body ended too early' },
    ],
    [
      'that is compressed',
      { readBody: async () => ({ encoding: 'br' }) as never },
      { status: 415, message: 'The body is compressed (br): send it as it is' },
    ],
    [
      'that is not UTF-8',
      { readBody: async () => ({ bytes: new Uint8Array([0x7b, 0xff]) }) as never },
      { status: 400, message: 'The body is not UTF-8' },
    ],
    ['that was parsed before', { readBody: async () => ({ text }) as never }, { status: 202 }],
  ])('%s is answered so', async (_, more, { status, message }) => {
    const { call } = called({ bodyBytes: 100 });
    const answer = await call('POST', '/task', { body: task, ...more });
    expect(answer.status).toBe(status);
    if (message !== undefined) expect(answer.body.error.message).toBe(message);
  });

  it('is read up to the limit, which is 1 MiB by default', async () => {
    const limits: number[] = [];
    const readBody = async (limit: number) => {
      limits.push(limit);
      return { bytes: new TextEncoder().encode(text) } as never;
    };
    await called({ bodyBytes: 100 }).call('POST', '/task', { readBody });
    await called().call('POST', '/task', { readBody });
    expect(limits).toEqual([100, 1_048_576]);
  });

  it.each([
    [`{"type":"none","data":{"a":${'['.repeat(61)}${']'.repeat(61)}}}`, 202],
    [`{"type":"none","data":{"a":${'['.repeat(62)}${']'.repeat(62)}}}`, 202],
    [`{"type":"none","data":{"a":${'['.repeat(63)}${']'.repeat(63)}}}`, 400],
    [`{"type":"none","data":{"a":[${'1,'.repeat(19_990)}1]}}`, 202],
    [`{"type":"none","data":{"a":[${'1,'.repeat(20_000)}1]}}`, 400],
  ])('may nest 64 deep and have 20,000 values: %.40s', async (body, status) => {
    expect((await called().call('POST', '/task', { body })).status).toBe(status);
  });
});

describe('a failure of the gateway', () => {
  it('is told to its operator, with the request', async () => {
    const failure = new Error('secret');
    const { call, logged } = called({ authenticate: () => Promise.reject(failure) });
    expect(await call('GET', '/task')).toMatchObject({
      status: 500,
      body: { error: { code: 'INTERNAL_ERROR', message: 'Internal error' } },
    });
    expect(logged).toEqual([['error', 'A request failed', { method: 'GET', path: '/task', err: failure }]]);
  });

  it('is printed where there is no `logger`, as a warning is', async () => {
    const printed: unknown[][] = [];
    const spy = vi.spyOn(console, 'error').mockImplementation((...line) => void printed.push(line));
    onTestFinished(() => spy.mockRestore());
    const failure = new Error('secret');
    const options = { types: {}, wrong: 1, authenticate: () => Promise.reject(failure) };
    const gateway = closedAfterTest(createTaskGateway(options));
    await gateway.handle({
      method: 'GET',
      path: '/task',
      query: new URLSearchParams(),
      headers: {},
    } as never);
    expect(printed).toEqual([
      [expect.stringMatching(/^warn: .*wrong/), {}],
      ['error: A request failed', { method: 'GET', path: '/task', err: failure }],
    ]);
  });

  it('of its store is 503, and a task that is not there after it was sent too', async () => {
    const away = new StoreError('UNAVAILABLE', 'secret');
    const memory = memoryStore();
    let isAway = false;
    const store = change(memory, {
      load:
        (load) =>
        async (...given) => {
          if (isAway) throw away;
          return load(...given);
        },
    });
    const { call } = called({ store });
    isAway = true;
    expect(await call('GET', '/task/t')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  });
});

describe('an answer to a form', () => {
  it('is refused where the task asks nothing, or something else', async () => {
    const service = await serveTasks({
      types: {
        ask: serve(async function* ({ messages }) {
          if (messages.length === 1) yield { status: { state: 'TASK_STATE_INPUT_REQUIRED' } };
          else yield completed();
        }),
        done: serve(() => reply('Done')),
      },
    });
    await service.post('/task', { taskId: 'done', type: 'done', data: {} });
    await service.ended('done');
    const refused = (message: string) => ({
      status: 409,
      body: { error: { code: 'INPUT_NOT_EXPECTED', message } },
    });
    expect(await service.post('/task/done/input', { values: {} })).toMatchObject(
      refused('The task is completed and asks nothing'),
    );
    expect(await service.post('/task/done/cancel')).toMatchObject({
      status: 409,
      body: { error: { code: 'TASK_NOT_CANCELABLE', message: 'The task is completed' } },
    });
    await service.post('/task', { taskId: 't', type: 'ask', data: {} });
    const { form } = await service.until('t', (shown) => shown.form);
    expect(await service.post('/task/t/input', { formId: 'other', values: {} })).toMatchObject(
      refused('The task waits for another form'),
    );
    const answer = { formId: form.formId, values: { text: 'a' } };
    const [one, two] = await Promise.all([
      service.post('/task/t/input', answer),
      service.post('/task/t/input', answer),
    ]);
    expect([one.status, two.status].every((status) => [202, 409].includes(status))).toBe(true);
    expect((await service.ended('t')).status).toBe('completed');
  });
});

describe('the WebSockets of a gateway', () => {
  it.each([
    ['/', ''],
    ['', ''],
    ['/base', '/base'],
    ['/base//', '/base'],
    ['/a/b/', '/a/b'],
  ])('attached at %j are at %j', async (path, base) => {
    const gateway = closedAfterTest(createTaskGateway({ types: {}, logger: () => {} }));
    const listener = createServer();
    gateway.attach(listener, { path });
    const url = await listen(listener);
    const socket = await openSocket(`${url}${base}`);
    socket.send({ event: 'submit', requestId: 'r', ...task });
    expect(await socket.next()).toMatchObject({ event: 'reply', requestId: 'r' });
    const closed = new Promise((resolve) =>
      socket.ws.on('close', (code, reason) => resolve([code, String(reason)])),
    );
    await gateway.close();
    expect(await closed).toEqual([1001, 'The gateway closes']);
  });

  it('are at one path once', () => {
    const gateway = closedAfterTest(createTaskGateway({ types: {}, logger: () => {} }));
    const listener = createServer();
    gateway.attach(listener);
    expect(() => gateway.attach(listener)).toThrow(TypeError);
  });

  it('are admitted as requests are, and a fault is told to the operator', async () => {
    const failure = new Error('secret');
    const logged: unknown[][] = [];
    const seen: unknown[] = [];
    const service = await serveTasks({
      types: {},
      logger: (...entry) => logged.push(entry),
      authenticate(request) {
        seen.push({ ...request, query: String(request.query), headers: request.headers['x-key'] });
        if (request.query.has('broken')) throw failure;
        return request.query.get('token') === 'ada' ? { scope: 'ada' } : undefined;
      },
    });
    await openSocket(service.url, '?token=ada&batchMs=0', { headers: { 'x-key': 'k' } });
    expect(seen).toEqual([
      { method: 'GET', path: '/task/updates', query: 'token=ada&batchMs=0', headers: 'k' },
    ]);
    await expect(openSocket(service.url, '')).rejects.toThrow('Status 401');
    await expect(openSocket(service.url, '?token=ada&batchMs=x')).rejects.toThrow('Status 400');
    expect(logged).toEqual([]);
    await expect(openSocket(service.url, '?broken')).rejects.toThrow('Status 500');
    expect(logged).toEqual([['error', 'An upgrade to a WebSocket failed', { err: failure }]]);
    const open = await serveTasks({ types: {} });
    await expect(openSocket(open.url, '?token=ada')).rejects.toThrow('Status 400');
  });
});
