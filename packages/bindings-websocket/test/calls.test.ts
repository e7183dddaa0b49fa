import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerCall, CallTarget } from '@batonjs/bindings';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { attachWebSocket, type WebSocketServerOptions } from '../src/index.ts';
import { gate, serve } from './agent.ts';
import { type Frame, message, type RawSocket, rawSocket } from './raw-socket.ts';

const hasError = ({ error }: Frame) => error;
const answered = async (socket: RawSocket) =>
  expect(await socket.next(socket.request('ListTasks'))).toHaveProperty('result');
/** A request with an id that the test chooses. */
const withId = (id: unknown, said: string, method = 'SendStreamingMessage') => ({
  jsonrpc: '2.0',
  id,
  method,
  params: message(said),
  serviceParams: { 'a2a-version': '1.0' },
});

/** An agent whose calls are answered by the test. */
async function serveCalls(answerCall: AnswerCall, options: WebSocketServerOptions = {}) {
  const { server } = await serve();
  const target: CallTarget = new Proxy(server, {
    get(whole, name) {
      if (name === 'answerCall') return answerCall;
      const member: unknown = Reflect.get(whole, name);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
  const listener = createServer();
  const connections: Socket[] = [];
  listener.on('connection', (socket: Socket) => connections.push(socket));
  const endpoint = attachWebSocket(target, listener, options);
  await listen(listener);
  onTestFinished(() => endpoint.close({ graceMs: 0 }));
  return { url: endpoint.url!, endpoint, connections };
}

describe('a call', () => {
  it('carries what its request and its upgrade say', async () => {
    const calls: Parameters<AnswerCall>[0][] = [];
    const { url } = await serveCalls(async (call) => {
      calls.push(call);
      return { result: { done: true }, extensions: [] };
    });
    const socket = await rawSocket(url, { headers: { 'x-name': 'ada', 'a2a-version': '0.3' } });
    const id = socket.request('GetTask', { id: 't' });
    expect(await socket.next(id)).toEqual({ jsonrpc: '2.0', id, result: { done: true } });
    const [call] = calls;
    expect(call).toMatchObject({
      operation: 'GetTask',
      binding: 'https://batonjs.dev/bindings/websocket/v1',
      version: '1.0',
      path: '/',
      headers: { 'x-name': 'ada', 'a2a-version': '1.0' },
      opening: { 'x-name': 'ada', 'a2a-version': '0.3' },
      remoteAddress: '127.0.0.1',
    });
    expect(call!.readParams()).toEqual({ id: 't' });
  });

  it.each<[string, Frame]>([
    ['a result', { result: {}, extensions: [] }],
    [
      'events',
      {
        extensions: [],
        events: {
          next: async () => ({ events: [{ id: '1', event: { text: '{}', value: {} } }] }),
          close() {},
        },
      },
    ],
    ['the end of its events', { extensions: [], events: { next: async () => undefined, close() {} } }],
  ])('that was canceled is not answered any more: with %s', async (_, answer) => {
    const goOn = gate();
    const { url } = await serveCalls(async ({ operation }) => {
      if (operation === 'ListTasks') return { result: {}, extensions: [] };
      await goOn.promise;
      return answer;
    });
    const socket = await rawSocket(url);
    socket.send(withId('a', 'hi'));
    socket.send({ id: 'a', cancelStream: true });
    await socket.next('a');
    goOn.resolve();
    await answered(socket);
    expect(socket.frames.filter(({ id }) => id === 'a')).toEqual([
      { jsonrpc: '2.0', id: 'a', streamEnd: true },
    ]);
  });

  it('that was canceled before it had events closes them', async () => {
    const goOn = gate();
    const closed = Promise.withResolvers<undefined>();
    const { url } = await serveCalls(async () => {
      await goOn.promise;
      // A task that says nothing.
      return {
        extensions: [],
        events: { next: () => closed.promise, close: () => closed.resolve(undefined) },
      };
    });
    const socket = await rawSocket(url);
    socket.send(withId('a', 'hi'));
    socket.send({ id: 'a', cancelStream: true });
    await socket.next('a');
    goOn.resolve();
    await closed.promise;
  });

  it('is not read any more once its connection ends', async () => {
    let asked = 0;
    const { url, endpoint } = await serveCalls(async () => {
      asked += 1;
      return { result: {}, extensions: [] };
    });
    const socket = await rawSocket(url);
    socket.send('{');
    socket.request('ListTasks');
    expect(await socket.closed).toBe(1002);
    await expect.poll(() => endpoint.connections).toBe(0);
    expect(asked).toBe(0);
  });

  it('that was canceled, and fails then, is not answered any more', async () => {
    const goOn = gate();
    const { url } = await serveCalls(async ({ operation }) => {
      if (operation === 'ListTasks') return { result: {}, extensions: [] };
      await goOn.promise;
      throw new Error('late');
    });
    const socket = await rawSocket(url);
    socket.send(withId('a', 'hi'));
    socket.send({ id: 'a', cancelStream: true });
    await socket.next('a');
    goOn.resolve();
    await answered(socket);
    expect(socket.frames.filter(hasError)).toEqual([]);
  });

  it('leaves the one alone that has its id since it was canceled', async () => {
    const gates = [gate(), gate()];
    let calls = 0;
    const { url } = await serveCalls(
      async () => {
        const number = calls;
        calls += 1;
        await gates[number]?.promise;
        return { extensions: [], events: { next: async () => undefined, close() {} } };
      },
      { streams: 1 },
    );
    const socket = await rawSocket(url);
    socket.send(withId('a', '1'));
    socket.send({ id: 'a', cancelStream: true });
    socket.send(withId('a', '2'));
    await expect.poll(() => calls).toBe(2);
    gates[0]!.resolve();
    // The first call ends, and the second goes on: its id is in use, and so is its place.
    for (const [frame, text] of [
      [withId('a', '3'), '"a" is in use on this connection'],
      [withId('b', '3'), 'Too many concurrent streams'],
    ] as const) {
      socket.send(frame);
      expect((await socket.next(hasError)).error.message).toContain(text);
    }
    gates[1]!.resolve();
    expect(await socket.next((frame: Frame) => frame.id === 'a' && frame.streamEnd)).toBeTruthy();
    expect(await socket.next((frame: Frame) => frame.id === 'a' && frame.streamEnd)).toBeTruthy();
  });

  it('names the member that is wrong where its id is in use', async () => {
    const { url } = await serve();
    const socket = await rawSocket(url);
    socket.send(withId('a', 'wait'));
    await socket.next('a');
    socket.send(withId('a', 'wait'));
    const { error } = await socket.next(hasError);
    expect(error.data[1].fieldViolations).toEqual([
      { field: 'id', description: '"a" is in use on this connection' },
    ]);
  });

  it('takes a place of the others, and not of the streams', async () => {
    const { url } = await serve({}, { streams: 1, requests: 1 });
    const socket = await rawSocket(url);
    socket.request('SendMessage', message('wait'));
    await socket.next(socket.request('SendStreamingMessage', message('wait')));
    for (const [method, what] of [
      ['ListTasks', 'requests'],
      ['Authenticate', 'requests'],
      ['SendStreamingMessage', 'streams'],
    ] as const) {
      const id = socket.request(method, { ...message('wait'), scheme: 'Bearer', credentials: 'x' });
      expect((await socket.next(id)).error).toMatchObject({
        code: -32_000,
        message: `Too many concurrent ${what}`,
      });
    }
  });
});

it.each<[string, WebSocketServerOptions, (socket: RawSocket) => unknown, string]>([
  ['bytes', {}, ({ send }) => send(Buffer.from('{}')), '1003 Frames are JSON text'],
  ['no JSON', {}, ({ send }) => send('{'), '1002 Frames are JSON text'],
  ['too much', { burst: 0 }, (socket) => socket.request('ListTasks'), '1008 Rate limit exceeded'],
  [
    'another version',
    {},
    (socket) => socket.request('ListTasks', {}, { serviceParams: {} }),
    '4002 Version not supported',
  ],
])('a connection that sends %s is told why it ends', async (_, options, act, end) => {
  const socket = await rawSocket((await serve({}, options)).url);
  act(socket);
  expect(await socket.ended).toBe(end);
});

it('a call without credentials ends its connection, and so do wrong ones', async () => {
  let isGood = true;
  const { url } = await serve({ authenticate: () => (isGood ? { scope: 'ada' } : undefined) });
  const sockets = [await rawSocket(url), await rawSocket(url)];
  isGood = false;
  sockets[0]!.request('ListTasks');
  sockets[1]!.request('Authenticate', { scheme: 'Bearer', credentials: 'x' });
  for (const socket of sockets) {
    expect((await socket.next(hasError)).error).toMatchObject({
      code: -32_000,
      message: 'Authentication required',
    });
    expect(await socket.ended).toBe('4001 Unauthenticated');
  }
});

it('a client that reads nothing is read no more, and its connection can end', async () => {
  let asked = 0;
  const large = 'x'.repeat(262_144);
  const { url, endpoint } = await serveCalls(
    async ({ operation }) => {
      if (operation === 'ListTasks') return { result: {}, extensions: [] };
      asked += 1;
      return { result: { large }, extensions: [] };
    },
    { requests: 1_000 },
  );
  const [slow, other] = [await rawSocket(url), await rawSocket(url)];
  slow.ws.pause();
  const ids: number[] = [];
  // Until it is read no more, while the server answers others.
  for (let unread = 0; unread < 3; ) {
    const before = asked;
    ids.push(slow.request('GetTask', { id: 't' }));
    await other.next(other.request('ListTasks'));
    await other.next(other.request('ListTasks'));
    unread = asked === before ? unread + 1 : 0;
    expect(ids.length).toBeLessThan(500);
  }
  expect(asked).toBeGreaterThan(3);
  slow.ws.resume();
  for (const id of ids) expect((await slow.next(id)).result.large).toBe(large);
  slow.ws.pause();
  for (const _ of ids) slow.request('GetTask', { id: 't' });
  slow.ws.terminate();
  await expect.poll(() => endpoint.connections).toBe(1);
});

describe('answers that the network does not take', () => {
  const megabyte = 1_048_576;
  const value = { large: 'x'.repeat(megabyte) };
  const event = { id: '1', event: { text: JSON.stringify(value), value } };

  it.each<[string, string, number, () => Frame]>([
    ['results', 'GetTask', 3, () => ({ result: value, extensions: [] })],
    [
      'events of a stream',
      'SubscribeToTask',
      1,
      () => {
        const batches = [{ events: [event, event, event] }];
        return { extensions: [], events: { next: async () => batches.shift(), close() {} } };
      },
    ],
  ])('wait as soon as there is 1 MiB of them: %s', async (_, method, calls, answer) => {
    const goOn = gate();
    let asked = 0;
    const { url, connections } = await serveCalls(async () => {
      asked += 1;
      await goOn.promise;
      return answer();
    });
    const socket = await rawSocket(url);
    for (let n = 0; n < calls; n += 1) socket.request(method, { id: 't' });
    await expect.poll(() => asked).toBe(calls);
    const [connection] = connections;
    // It takes nothing from here on.
    connection!.cork();
    goOn.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(connection!.writableLength).toBeGreaterThan(megabyte);
    expect(connection!.writableLength).toBeLessThan(2 * megabyte);
    connection!.uncork();
    const arrived = () => socket.frames.filter(({ result }) => result);
    await expect.poll(() => arrived().length).toBe(3);
    for (const { result } of arrived()) expect(result).toEqual(value);
  });
});

describe('the end of an endpoint', () => {
  it('lets no new connection in, and waits for the last call', async () => {
    const goOn = gate();
    const { url, endpoint } = await serveCalls(async () => {
      await goOn.promise;
      return { result: {}, extensions: [] };
    });
    const [idle, busy] = [await rawSocket(url), await rawSocket(url)];
    const call = busy.request('GetTask', { id: 't' });
    // Its call has arrived when this frame is answered.
    busy.send({ id: 'x', cancelStream: true });
    await busy.next('x');
    let isClosed = false;
    const closing = endpoint.close({ graceMs: 1e6 }).then(() => {
      isClosed = true;
    });
    expect(await idle.ended).toBe('1001 The server closes');
    await expect(rawSocket(url)).rejects.toThrow('503');
    expect([isClosed, endpoint.connections]).toEqual([false, 1]);
    goOn.resolve();
    expect(await busy.next(call)).toHaveProperty('result');
    expect(await busy.ended).toBe('1001 The server closes');
    await closing;
    await expect(rawSocket(url)).rejects.toThrow('404');
  });

  it('closes connections that were being admitted', async () => {
    const goOn = gate();
    let asked = 0;
    const { url, endpoint } = await serve({
      async authenticate({ headers }) {
        asked += 1;
        if (headers['x-name'] !== 'first') await goOn.promise;
        return { scope: 'ada' };
      },
    });
    const first = await rawSocket(url, { headers: { 'x-name': 'first' } });
    await first.next(first.request('SendStreamingMessage', message('wait')));
    const openings = [rawSocket(url), rawSocket(url)];
    await expect.poll(() => asked).toBe(4);
    // Longer than the test may take: they are not ended with the grace period.
    const closing = endpoint.close({ graceMs: 1e6 });
    goOn.resolve();
    for (const opening of openings) expect(await (await opening).ended).toBe('1001 The server closes');
    first.ws.close();
    await closing;
  });

  it('refuses a connection that was being admitted when the last one has ended', async () => {
    const [goOn, arrived] = [gate(), gate()];
    const { url, endpoint } = await serve({
      async authenticate() {
        arrived.resolve();
        await goOn.promise;
        return { scope: 'ada' };
      },
    });
    const opening = rawSocket(url);
    await arrived.promise;
    await Promise.all([endpoint.close(), expect(opening).rejects.toThrow('503'), goOn.resolve()]);
  });

  it('is the same when it is asked for twice, and leaves nothing at the server', async () => {
    const { server } = await serve();
    const listener = createServer();
    const before = getEventListeners(server.closing, 'abort').length;
    const listening = listener.listenerCount('listening');
    const endpoint = attachWebSocket(server, listener);
    expect(getEventListeners(server.closing, 'abort')).toHaveLength(before + 1);
    const [first, second] = [endpoint.close(), endpoint.close({ graceMs: 0 })];
    expect(first).toBe(second);
    await first;
    expect(getEventListeners(server.closing, 'abort')).toHaveLength(before);
    // Its path is free again, and the listener, which listens only now, is not in the card.
    expect(endpoint.url).toBeUndefined();
    await listen(listener);
    expect(endpoint.url).toBeUndefined();
    expect(listener.listenerCount('listening')).toBe(listening);
    const again = attachWebSocket(server, listener);
    expect(again.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/ws$/);
    await again.close();
  });

  it('of a server that was closed before refuses every connection', async () => {
    const { server } = await serve();
    await server.close();
    const listener = createServer();
    const endpoint = attachWebSocket(server, listener);
    onTestFinished(() => endpoint.close());
    await listen(listener);
    await expect(rawSocket(endpoint.url!)).rejects.toThrow('503');
  });
});

describe('the address in the card', () => {
  it.each<[string, WebSocketServerOptions, object | string, RegExp | undefined]>([
    ['of this machine', {}, { host: '127.0.0.1', port: 0 }, /^ws:\/\/127\.0\.0\.1:\d+\/ws$/],
    ['of IPv6', { path: '//a/b' }, { host: '::1', port: 0 }, /^ws:\/\/\[::1\]:\d+\/a\/b$/],
    ['of all addresses of IPv6', {}, { host: '::', port: 0 }, undefined],
    ['of all addresses', {}, { host: '0.0.0.0', port: 0 }, undefined],
    ['of a path', {}, { path: `\0baton-${process.pid}-${Math.random()}` }, undefined],
  ])('is that of the listener: %s', async (_, options, at, url) => {
    const { server } = await serve();
    const listener = createServer();
    await once(listener.listen(at as object), 'listening');
    const endpoint = attachWebSocket(server, listener, options);
    if (url) expect(endpoint.url).toMatch(url);
    else expect(endpoint.url).toBeUndefined();
    await endpoint.close();
    listener.close();
  });

  it('is that of the options before the listener listens', async () => {
    const { server } = await serve();
    const endpoint = attachWebSocket(server, createServer(), { url: 'wss://agent.example/ws' });
    expect(endpoint.url).toBe('wss://agent.example/ws');
    await endpoint.close();
  });
});
