import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTcpServer, Socket } from 'node:net';
import type { Call, TransportRequest } from '@batonjs/bindings';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen } from '../../../test/kit/listen.ts';
import { type WebSocketClientOptions, webSocketClient } from '../src/client.ts';
import type { Frame } from './raw-socket.ts';

interface Accepted {
  readonly ws: WebSocket;
  readonly headers: IncomingHttpHeaders;
  readonly frames: Frame[];
  readonly ended: Promise<number>;
  send(frame: unknown): void;
}

/** A server of another implementation, whose answers the test sends, and a client of it. */
async function begin(options: WebSocketClientOptions = {}, deflate = false) {
  const server = createServer();
  const sockets = new WebSocketServer({ server, perMessageDeflate: deflate && { threshold: 0 } });
  const accepted: Accepted[] = [];
  sockets.on('connection', (ws, { headers }) => {
    const frames: Frame[] = [];
    ws.on('message', (data) => frames.push(JSON.parse(String(data))));
    const ended = new Promise<number>((resolve) => ws.on('close', resolve));
    ws.on('error', () => {});
    onTestFinished(() => ws.terminate());
    const send = (frame: unknown) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
    accepted.push({ ws, headers, frames, ended, send });
  });
  const url = (await listen(server)).replace('http', 'ws');
  const client = webSocketClient(options);
  onTestFinished(() => client.close());
  const request = (more: object = {}): TransportRequest => ({
    url,
    headers: {},
    signal: new AbortController().signal,
    maxBytes: 1e6,
    ...more,
  });
  const call = (more: object = {}, params: object = {}): Promise<unknown> => {
    const answer = client.call({ operation: 'ListTasks', params } as Call, request(more));
    answer.catch(() => {});
    return answer;
  };
  const stream = (more: object = {}, params: object = {}) =>
    client
      .stream({ operation: 'SendStreamingMessage', params } as Call, request(more))
      [Symbol.asyncIterator]();
  /** The connection of this number, once so many frames have arrived on it. */
  const connection = async (number: number, frames = 1): Promise<Accepted> => {
    await expect.poll(() => accepted[number]?.frames.length ?? 0).toBeGreaterThanOrEqual(frames);
    return accepted[number]!;
  };
  return { url, client, call, stream, connection, accepted, deflate: () => accepted[0]?.ws.extensions };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
const cancel = (id: unknown) => ({ jsonrpc: '2.0', id, cancelStream: true });

describe('a connection', () => {
  it('has the credentials, and each call what is its own', async () => {
    const { call, connection, accepted } = await begin();
    const own = {
      'a2a-version': '1.0',
      'a2a-extensions': 'a',
      'x-a2a-extensions': 'b',
      'last-event-id': '7',
      traceparent: 't',
      tracestate: 's',
      baggage: 'b',
    };
    void call({ headers: { ...own, authorization: 'Bearer x', 'x-key': 'k' } }, { pageSize: 1 });
    void call({ headers: { 'x-key': 'k', authorization: 'Bearer x' } });
    void call({ headers: { authorization: 'Bearer x', 'x-key': 'k' } });
    const first = await connection(0, 2);
    expect(first.frames[0]).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'ListTasks',
      params: { pageSize: 1 },
      serviceParams: own,
    });
    expect(first.frames[1]).toMatchObject({ id: 2, serviceParams: {} });
    expect(first.headers).toMatchObject({ authorization: 'Bearer x', 'x-key': 'k' });
    for (const name of Object.keys(own)) expect(first.headers).not.toHaveProperty(name);
    await connection(1);
    expect(accepted).toHaveLength(2);
  });

  it('compresses where the server does', async () => {
    const { call, connection, deflate } = await begin({}, true);
    void call();
    await connection(0);
    expect(deflate()).toContain('permessage-deflate');
  });

  it('takes text only, and breaks at a message that is too long', async () => {
    const { call, connection } = await begin({ maxMessageBytes: 1_000 });
    const first = call();
    const { ws, send, ended } = await connection(0);
    ws.send(Buffer.from('{"id":1,"result":{"bytes":true}}'));
    send({ id: 1, result: { text: true } });
    expect(await first).toEqual({ text: true });
    const second = call();
    await connection(0, 2);
    send({ id: 2, result: { text: 'x'.repeat(1_000) } });
    // `ws` says so to the server, and breaks off.
    expect(await failureOf(second)).toMatchObject({ code: 'closed with 1006' });
    expect(await ended).toBe(1009);
  });

  it('that ends on the side of the server is replaced', async () => {
    const { call, connection } = await begin();
    const first = call();
    const { ws, send } = await connection(0);
    send({ id: 1, result: {} });
    await first;
    ws.close(1001);
    const second = call();
    const other = await Promise.race([connection(1), failureOf(second)]);
    if (other instanceof Error) return expect(other).toMatchObject({ code: 'closed with 1001' });
    (other as Accepted).send({ id: 1, result: { other: true } });
    expect(await second).toEqual({ other: true });
  });

  it('that announces its end takes no more calls, and is closed after the last one', async () => {
    const { call, connection, accepted } = await begin();
    const [first, second] = [call(), call()];
    const old = await connection(0, 2);
    old.send({ jsonrpc: '2.0', control: 'ReauthenticationRequired' });
    old.send({ id: 1, result: {} });
    await first;
    const third = call();
    const other = await connection(1);
    expect(old.ws.readyState).toBe(old.ws.OPEN);
    old.send({ id: 2, result: {} });
    await second;
    expect(await old.ended).toBe(1000);
    other.send({ id: 1, result: {} });
    await third;
    // One without calls is closed at once.
    other.send({ jsonrpc: '2.0', control: 'ReauthenticationRequired' });
    expect(await other.ended).toBe(1000);
    void call();
    await connection(2);
    expect(accepted).toHaveLength(3);
  });

  it('that sends no answers of this protocol fails all calls, and is closed', async () => {
    const { call, connection } = await begin();
    const calls = [call(), call()];
    const { send, ended } = await connection(0, 2);
    send('{');
    for (const each of calls)
      expect(await failureOf(each)).toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
    expect(await ended).toBe(1000);
  });

  it('is closed by the client with its calls', async () => {
    const { call, client, connection } = await begin();
    const waiting = call();
    const { ended } = await connection(0);
    client.close();
    expect(await failureOf(waiting)).toMatchObject({
      code: 'closed with 1000',
      message: 'The WebSocket was closed with 1000',
    });
    expect(await ended).toBe(1000);
    void call();
    await connection(1);
  });

  it('keeps the process alive while calls wait, and no longer', async () => {
    const held: string[] = [];
    const { call, url, connection } = await begin();
    const port = Number(new URL(url).port);
    for (const name of ['ref', 'unref'] as const) {
      const original = Socket.prototype[name];
      const spy = vi.spyOn(Socket.prototype, name).mockImplementation(function (this: Socket) {
        if (this.remotePort === port) held.push(name);
        return original.call(this);
      });
      onTestFinished(() => void spy.mockRestore());
    }
    const [first, second] = [call(), call()];
    const { send } = await connection(0, 2);
    expect(held).toEqual(['ref']);
    send({ id: 1, result: {} });
    await first;
    expect(held).toEqual(['ref']);
    send({ id: 2, result: {} });
    await second;
    expect(held).toEqual(['ref', 'unref']);
  });
});

describe('a refusal', () => {
  const refusal = (reason: string, code = -32_600) => ({
    jsonrpc: '2.0',
    id: null,
    error: {
      code,
      message: 'No',
      data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' }],
    },
  });

  it('without an id is that of the only call without an answer', async () => {
    const { call, stream, connection } = await begin();
    const events = stream();
    const next = events.next();
    const { send } = await connection(0);
    send({ id: 1, result: { task: {} }, version: 'a' });
    await next;
    const refused = call();
    await connection(0, 2);
    send(refusal('INVALID_REQUEST'));
    expect(await failureOf(refused)).toMatchObject({ reason: 'INVALID_REQUEST', message: 'No' });
    send({ id: 1, result: { statusUpdate: {} } });
    expect((await events.next()).value).toMatchObject({ event: { statusUpdate: {} } });
    // Nothing waits: nobody was meant.
    send(refusal('INVALID_REQUEST'));
    send({ id: 1, streamEnd: true });
    expect((await events.next()).done).toBe(true);
    void call();
    expect((await connection(0, 3)).frames.map(({ cancelStream }) => cancelStream)).toEqual(
      Array(3).fill(undefined),
    );
  });

  it('of another kind is why the connection ends', async () => {
    const { call, connection } = await begin();
    const waiting = call();
    const { send, ws } = await connection(0);
    send(refusal('RESOURCE_EXHAUSTED', -32_000));
    ws.close(1008);
    expect(await failureOf(waiting)).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  it('with the id of no call means nothing', async () => {
    const { call, connection } = await begin();
    const waiting = call();
    const { send, ws } = await connection(0);
    send({ ...refusal('INVALID_REQUEST'), id: '1' });
    send({ ...refusal('INVALID_REQUEST'), id: 7 });
    send({ id: 2, streamEnd: true });
    send({ id: 1, result: {} });
    expect(await waiting).toEqual({});
    expect(ws.readyState).toBe(ws.OPEN);
  });

  it('of a message that is too long is that of the longest call without an answer', async () => {
    const { call, stream, connection } = await begin();
    const answered = stream({}, { text: 'x'.repeat(100) });
    const next = answered.next();
    const { send, ws } = await connection(0);
    send({ id: 1, result: { task: {} }, version: 'a' });
    await next;
    const short = failureOf(call({}, { text: 'x' }));
    const long = failureOf(call({}, { text: 'xxx' }));
    await connection(0, 3);
    const rest = failureOf(answered.next() as Promise<unknown>);
    ws.close(1009);
    expect(await long).toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
    for (const each of [short, rest]) expect(await each).toMatchObject({ code: 'closed with 1009' });
  });
});

describe('a call', () => {
  it('that fails, or is answered, is not canceled', async () => {
    const { call, connection } = await begin();
    const [first, second] = [call(), call()];
    const { send, frames } = await connection(0, 2);
    send({ id: 1, error: { code: -32_001, message: 'x' } });
    send({ id: 2, result: {} });
    expect(await failureOf(first)).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await second;
    void call();
    await connection(0, 3);
    expect(frames.map(({ id, cancelStream }) => cancelStream ?? id)).toEqual([1, 2, 3]);
  });

  it('is left by its signal, which keeps nothing of it', async () => {
    const { call, connection } = await begin();
    const leaving = new AbortController();
    const waiting = call({ signal: leaving.signal });
    await connection(0);
    leaving.abort('enough');
    expect(await failureOf(waiting)).toBe('enough');
    const { frames } = await connection(0, 2);
    expect(frames[1]).toEqual(cancel(1));
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    expect(await failureOf(call({ signal: leaving.signal }))).toBe('enough');
  });

  it('keeps nothing at a signal that lasts', async () => {
    const { call, connection } = await begin();
    const { signal } = new AbortController();
    const waiting = call({ signal });
    const { send } = await connection(0);
    send({ id: 1, result: {} });
    await waiting;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is left by its signal while the connection opens', async () => {
    const silent = createTcpServer((socket) => void socket.on('error', () => {}));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const { call, client } = await begin();
    const leaving = new AbortController();
    const waiting = call({ url: `ws://127.0.0.1:${port}`, signal: leaving.signal });
    leaving.abort('enough');
    expect(await failureOf(waiting)).toBe('enough');
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    client.close();
  });

  it.each([
    [0, false],
    [1, true],
  ])('has an answer of %i bytes more than it takes, and fails: %s', async (more, problem) => {
    const { call, connection } = await begin();
    const text = JSON.stringify({ id: 1, result: { text: 'ä' } });
    const maxBytes = Buffer.byteLength(text) - more;
    const waiting = call({ maxBytes });
    const { send } = await connection(0);
    send(text);
    if (!problem) return expect(await waiting).toEqual({ text: 'ä' });
    expect(await failureOf(waiting)).toEqual(new RangeError(`An answer of ${maxBytes + 1} bytes`));
    expect((await connection(0, 2)).frames[1]).toEqual(cancel(1));
  });

  it('that is a stream opens with its first event, and gives the positions', async () => {
    const { stream, connection } = await begin();
    const opened = vi.fn();
    const events = stream({ onOpen: opened });
    const first = events.next();
    const { send, frames } = await connection(0);
    expect(opened).not.toHaveBeenCalled();
    send({ id: 1, result: { task: {} }, version: 'a' });
    send({ id: 1, result: { statusUpdate: {} } });
    expect((await first).value).toMatchObject({ id: 'a', event: { task: {} } });
    expect((await events.next()).value).toMatchObject({ id: undefined, event: { statusUpdate: {} } });
    expect(opened).toHaveBeenCalledTimes(1);
    await events.return?.();
    await connection(0, 2);
    expect(frames[1]).toEqual(cancel(1));
  });

  it('that is a stream whose reader is too slow is left', async () => {
    const { stream, connection } = await begin();
    const events = stream({ maxBytes: 1e8 });
    const first = events.next();
    const { send, frames } = await connection(0);
    const large = 'x'.repeat(5_000_000);
    for (const version of ['a', 'b', 'c']) send({ id: 1, result: { large }, version });
    await connection(0, 2);
    expect(frames[1]).toEqual(cancel(1));
    expect((await first).value).toMatchObject({ id: 'a' });
    expect((await events.next()).value).toMatchObject({ id: 'b' });
    const rest = await failureOf(events.next().then(() => events.next()) as Promise<unknown>);
    expect(rest).toEqual(new Error('The stream was read too slowly'));
  });
});

describe('an address', () => {
  it.each([
    ['ada@agent.example/ws', undefined],
    [':secret@agent.example/ws', undefined],
    ['wsx://agent.example', undefined],
    ['xws://agent.example', undefined],
    ['WSS://agent.example/ws', 'https://agent.example/ws'],
    ['ws://agent.example/http', 'http://agent.example/http'],
    ['agent.example/?to=ws://other', undefined],
  ])('%s is called at %s', (address, url) => {
    expect(webSocketClient().urlOf(address)).toBe(url);
  });

  it('is called without its fragment', async () => {
    const { call, connection, url } = await begin();
    void call({ url: `${url}/#part` });
    void call({ url: `${url.replace('ws', 'http')}/` });
    const { frames } = await connection(0, 2);
    expect(frames).toHaveLength(2);
  });
});

describe('a refusal of an upgrade', () => {
  /** The failure of a call to a server that answers so, and the server's sockets. */
  async function refusedWith(status: number, headers: Record<string, string>, body: string, isWhole = true) {
    const sockets: Socket[] = [];
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const server = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => {}));
      socket.once('data', () => {
        socket.write(
          `HTTP/1.1 ${status} No\r\n${lines.join('')}content-length: ${Buffer.byteLength(body) + (isWhole ? 0 : 9)}\r\n\r\n${body}`,
        );
        if (!isWhole) socket.end();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const { call } = await begin();
    const error = await failureOf(call({ url: `ws://127.0.0.1:${port}` }));
    // The client leaves nothing open.
    for (const socket of sockets)
      if (!socket.closed) await new Promise((closed) => socket.once('close', closed));
    return error;
  }
  const body = (message: string) => JSON.stringify({ error: { message } });

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, status: number, headers: Record<string, string>, body: string, expected: object]>([
    ['its text', 403, {}, body('Not you'), { reason: 'PERMISSION_DENIED', message: 'Not you', retryAfter: undefined, challenge: undefined }],
    ['its headers', 401, { 'retry-after': '7', 'www-authenticate': 'Bearer' }, '', { reason: 'UNAUTHENTICATED', retryAfter: 7, challenge: 'Bearer' }],
    ['text that is no object', 503, {}, 'null', { reason: 'UNAVAILABLE', message: expect.stringMatching(/^ws:.* answers 503/) }],
    ['an error that is no object', 503, {}, '{"error":7}', { reason: 'UNAVAILABLE', message: expect.stringMatching(/^ws:.* answers 503/) }],
    ['more text than is read', 503, {}, body('x'.repeat(200_000)), { reason: 'UNAVAILABLE', message: expect.stringMatching(/^ws:.* answers 503/) }],
  ])('is known by %s', async (_, status, headers, text, expected) => {
    expect(await refusedWith(status, headers, text)).toMatchObject(expected);
  });

  it('is known by its status if it ends too early', async () => {
    expect(await refusedWith(503, {}, '{"error":{"message":"Half', false)).toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringMatching(/^ws:.* answers 503/),
    });
  });
});
