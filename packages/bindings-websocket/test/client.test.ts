import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { type ConnectOptions, connect } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { completed, type Turn, type Updates, working } from '@batonjs/server';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { authorityOf } from '../../../test/support/certificate.ts';
import { startTcpProxy } from '../../../test/support/tcp-proxy.ts';
import { type WebSocketClientOptions, webSocketClient } from '../src/client.ts';
import { attachWebSocket } from '../src/index.ts';
import { isAlias } from '../src/wire/binding-name.ts';
import { echo, gate, type ServedAgent, serve } from './agent.ts';
import { foreign } from './foreign.ts';

const ours = 'https://batonjs.dev/bindings/websocket/v1';
const binding = webSocketClient();
const bindings = [binding];
afterEach(() => binding.close());

/** A client of a server over WebSocket, which reads the card over HTTP. */
const clientOf = ({ origin }: ServedAgent, options: ConnectOptions = {}) =>
  connect(origin, { bindings, ...options });

/** A card that lists the binding at an address, and nothing else. */
const cardAt = (url: string, protocolBinding = ours): AgentCard => ({
  name: 'C',
  description: 'C',
  version: '1.0.0',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  supportedInterfaces: [{ url, protocolBinding, protocolVersion: '1.0' }],
});

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('The call was answered'),
    (error: unknown) => error,
  );

describe('a client', () => {
  it('picks the interface from the card when it is told to, and makes every call on one connection', async () => {
    const served = await serve({
      card: {
        extended: { description: 'Converts more' },
        name: 'Converter',
        description: 'Converts money',
        capabilities: { extendedAgentCard: true, pushNotifications: true, streaming: true },
      },
      authenticate: () => ({ scope: 'ada' }),
      push: {},
    });
    const agent = await clientOf(served);
    expect(agent.interface).toEqual({ url: served.url, protocolBinding: ours, protocolVersion: '1.0' });
    const { task } = (await agent.send('100 USD')) as { task: { id: string } };
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    const asked = (await agent.stream('ask').result()) as { task: { id: string } };
    const { id } = asked.task;
    expect(await agent.getTask({ id })).toMatchObject({ id });
    expect((await agent.listTasks()).tasks).toHaveLength(2);
    const config = { taskId: id, id: 'c', url: 'https://example.com/hook' };
    await agent.createTaskPushNotificationConfig(config);
    expect(await agent.getTaskPushNotificationConfig({ taskId: id, id: 'c' })).toMatchObject(config);
    expect((await agent.listTaskPushNotificationConfigs({ taskId: id })).configs).toHaveLength(1);
    expect(await agent.deleteTaskPushNotificationConfig({ taskId: id, id: 'c' })).toEqual({});
    const following = agent.follow(id).result();
    expect(await agent.cancelTask({ id })).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(await following).toMatchObject({ task: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect(await agent.getExtendedAgentCard()).toMatchObject({ description: 'Converts more' });
    expect(served.endpoint.connections).toBe(1);
  });

  it('takes another interface unless it is told to', async () => {
    const { origin } = await serve();
    expect((await connect(origin)).interface.protocolBinding).toBe('JSONRPC');
  });

  it('gets the same task and the same events as over JSON-RPC', async () => {
    const served = await serve();
    const [agent, overHttp] = await Promise.all([clientOf(served), connect(served.origin)]);
    const stream = agent.stream('100 USD');
    const events: unknown[] = [];
    for await (const event of stream) events.push(event);
    const { task } = await stream.result();
    expect(stream.lastEventId).toMatch(/\.\d+~/);
    expect(await agent.getTask({ id: task!.id })).toEqual(await overHttp.getTask({ id: task!.id }));
    expect(events.map((event) => Object.keys(event as object)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
  });

  it('gets the message of an agent that answers with one', async () => {
    const agent = await clientOf(await serve({ agent: echo }));
    const message = { message: { parts: [{ text: 'You said hi' }] } };
    expect(await agent.send('hi')).toMatchObject(message);
    expect(await agent.stream('hi').result()).toMatchObject(message);
  });

  it.each([
    [ours, false],
    ['WEBSOCKET', true],
    ['WebSocket', true],
    ['https://a2a-protocol.org/bindings/websocket', true],
    ['https://a2a-protocol.org/bindings/websocket/v1', true],
    ['https://a2a-protocol.org/bindings/quic', false],
    ['JSONRPC', false],
  ])('knows the name %s as another of the binding: %s [R-WS-30] [R-CB-11]', async (name, expected) => {
    expect(isAlias(name)).toBe(expected);
    if (!expected) return;
    const { url } = await serve();
    const agent = await connect(cardAt(url, name), { bindings });
    expect(await agent.listTasks()).toMatchObject({ tasks: [] });
  });
});

describe('an address', () => {
  it.each<[string, string | undefined]>([
    ['ws://agent.example/ws', 'http://agent.example/ws'],
    ['wss://agent.example/ws', 'https://agent.example/ws'],
    ['https://agent.example:8443/ws', 'https://agent.example:8443/ws'],
    ['http://agent.example', 'http://agent.example/'],
    ['agent.example:4000/ws', 'http://agent.example:4000/ws'],
    ['localhost:4000', 'http://localhost:4000/'],
    ['[::1]:4000/ws', 'http://[::1]:4000/ws'],
    ['wss://agent.example/ws#part', 'https://agent.example/ws'],
    ['wss://ada:secret@agent.example/ws', undefined],
    ['unix:///tmp/socket', undefined],
    ['', undefined],
  ])('%s [R-WS-10]', (address, url) => {
    expect(binding.urlOf(address)).toBe(url);
  });
});

describe('errors', () => {
  it('are the typed ones of the agent [R-CB-04] [R-WS-35]', async () => {
    const agent = await clientOf(await serve());
    const error = await failureOf(agent.getTask({ id: 'none' }));
    expect(A2AError.is(error, 'TASK_NOT_FOUND')).toBe(true);
    expect(error).toMatchObject({ message: 'Task not found', metadata: { taskId: 'none' }, details: [] });
    expect(await failureOf(agent.send({ parts: [{ url: 'nowhere' }] }))).toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [
        { fieldViolations: [{ field: 'message.parts[0].url', description: 'must be an absolute URL' }] },
      ],
    });
    expect(await failureOf(agent.follow('none').result())).toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it.each<[string, object, string]>([
    [
      'with a name as its reason [R-WS-17]',
      { code: -32_001, data: [{ reason: 'TaskNotFoundError' }] },
      'TASK_NOT_FOUND',
    ],
    ['with no details [R-WS-17]', { code: -32_002, message: 'no' }, 'TASK_NOT_CANCELABLE'],
    [
      'of too many messages [R-WS-17]',
      { code: -32_000, message: 'Rate limit exceeded' },
      'RESOURCE_EXHAUSTED',
    ],
    [
      'of too many streams [R-WS-17]',
      { code: -32_000, message: 'Too many concurrent streams' },
      'RESOURCE_EXHAUSTED',
    ],
    ['of credentials [R-WS-17]', { code: -32_000, message: 'Credentials expired' }, 'UNAUTHENTICATED'],
    ['of its own', { code: -32_000, message: 'Something else' }, 'INTERNAL_ERROR'],
    ['of another kind', { code: 7, message: 'x' }, 'INTERNAL_ERROR'],
  ])('of another implementation %s are understood', async (_, error, reason) => {
    const url = await foreign(({ id }, send) => send({ jsonrpc: '2.0', id, error }));
    const agent = await connect(cardAt(url), { bindings, retry: false });
    expect(await failureOf(agent.getTask({ id: 't' }))).toMatchObject({ reason });
  });

  it.each<[string, string]>([
    ['text that is no JSON', '{'],
    ['a list', '[]'],
    ['no task', '{"id":1,"result":{"status":7}}'],
    ['the end of a stream', '{"id":1,"streamEnd":true}'],
  ])('say that an answer is %s', async (_, frame) => {
    const url = await foreign((_, send) => send(frame));
    const agent = await connect(cardAt(url), { bindings });
    expect(await failureOf(agent.getTask({ id: 't' }))).toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
  });

  it('are the refusal of a request that is beyond the limits of the server', async () => {
    const agent = await clientOf(await serve({ agent: echo, limits: { jsonValues: 100 } }), { retry: false });
    const message = { parts: [{ data: Array(200).fill(0) }] };
    expect(await failureOf(agent.send(message))).toMatchObject({ reason: 'INVALID_REQUEST' });
    expect(await failureOf(agent.stream(message).result())).toMatchObject({ reason: 'INVALID_REQUEST' });
  });

  it('are a refusal that names no call: of the only one that waits, else of all, as it is not known of which', async () => {
    const error = { code: -32_600, message: 'Too much' };
    const waiting: number[] = [];
    const url = await foreign(({ id, method }, send) => {
      if (method === 'ListTasks') waiting.push(Number(id));
      else send({ jsonrpc: '2.0', id: null, error });
    });
    const agent = await connect(cardAt(url), { bindings, retry: false });
    const refused = agent.getTask({ id: 't' });
    expect(await failureOf(refused)).toMatchObject({ reason: 'INVALID_REQUEST', message: 'Too much' });
    const other = failureOf(agent.listTasks());
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    expect(await failureOf(agent.getTask({ id: 't' }))).toMatchObject({ code: 'NETWORK' });
    expect(await other).toMatchObject({ code: 'NETWORK' });
  });

  it('say that an answer, or an event, is too large', async () => {
    const agent = await clientOf(await serve({ agent: echo }), {
      maxResponseBytes: 1_000,
      maxEventBytes: 1_000,
    });
    const large = 'x'.repeat(2_000);
    expect(await failureOf(agent.send(large))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
    expect(await failureOf(agent.stream(large).result())).toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
    expect(await agent.send('small')).toHaveProperty('message');
  });

  it('say that a request is too large, and the client does not repeat it', async () => {
    const agent = await clientOf(await serve({ limits: { bodyBytes: 1_000 } }));
    expect(await failureOf(agent.send('x'.repeat(2_000)))).toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
  });

  it('say that the connection was closed, and why, where it is not known what became of a call', async () => {
    const agent = await clientOf(await serve({}, { messagesPerSecond: 0.001, burst: 1 }), { retry: false });
    const calls = [agent.send('100 USD'), agent.send('200 USD')];
    for (const error of await Promise.all(calls.map(failureOf))) {
      expect(error).toMatchObject({ code: 'NETWORK' });
      expect((error as Error).message).toMatch(/broke before the answer was complete \(RESOURCE_EXHAUSTED\)/);
    }
    expect(await agent.listTasks()).toHaveProperty('tasks');
  });
});

describe('an upgrade', () => {
  it.each<[string, { status: number; headers?: string; body?: string }, object]>([
    [
      'an error of the protocol',
      {
        status: 403,
        body: '{"error":{"code":403,"message":"Not you","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"PERMISSION_DENIED","domain":"batonjs.dev"}]}}',
      },
      { reason: 'PERMISSION_DENIED', message: 'Not you' },
    ],
    ['no WebSocket there [R-WS-21]', { status: 404, body: '<h1>' }, { reason: 'METHOD_NOT_FOUND' }],
    [
      'a page of a proxy',
      { status: 502, headers: 'content-type: text/html', body: '<h1>Bad gateway</h1>' },
      {
        reason: 'UNAVAILABLE',
        message: expect.stringMatching(
          /^ws:.*\/ answers 502 with text\/html \("Bad gateway"\), which is no answer of A2A$/,
        ),
      },
    ],
    [
      '401',
      { status: 401, headers: 'www-authenticate: Bearer' },
      { reason: 'UNAUTHENTICATED', challenge: 'Bearer' },
    ],
    ['503', { status: 503, headers: 'retry-after: 7' }, { reason: 'UNAVAILABLE', retryAfter: 7 }],
    ['429', { status: 429 }, { reason: 'RESOURCE_EXHAUSTED' }],
  ])('that is refused with %s is that error', async (_, { status, headers = 'x: y', body = '' }, error) => {
    const refusing = createTcpServer((socket) => {
      socket.once('data', () =>
        socket.end(`HTTP/1.1 ${status} No\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      );
      socket.on('error', () => {});
    });
    await once(refusing.listen(0, '127.0.0.1'), 'listening');
    const { port } = refusing.address() as { port: number };
    const agent = await connect(cardAt(`ws://127.0.0.1:${port}`), { bindings, retry: false });
    expect(await failureOf(agent.listTasks())).toMatchObject(error);
    refusing.close();
  });

  it('without the sub-protocol is refused, and not tried again [R-WS-21]', async () => {
    const url = await foreign(() => {}, '');
    const agent = await connect(cardAt(url), { bindings });
    expect(await failureOf(agent.listTasks())).toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      message: expect.stringContaining('a2a.v1'),
    });
  });

  it('is made over TLS, to a server with a trusted certificate, and with one of the client', async () => {
    const authority = authorityOf('Tests');
    const [own, client] = [authority.issue('localhost'), authority.issue('client')];
    const listener = createHttpsServer({ ...own, ca: authority.cert, requestCert: true });
    const { server } = await serve();
    const endpoint = attachWebSocket(server, listener, { path: '/tls' });
    await listen(listener);
    expect(endpoint.url).toMatch(/^wss:/);
    const tls = { ca: authority.cert, ...client };
    const callWith = async (options: WebSocketClientOptions) => {
      const transport = webSocketClient(options);
      const agent = await connect(cardAt(endpoint.url!), { bindings: [transport], retry: false });
      return agent.listTasks().finally(() => transport.close());
    };
    expect(await callWith({ tls })).toHaveProperty('tasks');
    for (const wrong of [{}, { tls: { ca: authority.cert } }])
      expect(await failureOf(callWith(wrong))).toMatchObject({ code: 'NETWORK' });
    await endpoint.close({ graceMs: 0 });
  });

  it('that is not answered in time is a broken connection', async () => {
    const silent = createTcpServer(() => {});
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as { port: number };
    const agent = await connect(cardAt(`ws://127.0.0.1:${port}`), {
      bindings: [webSocketClient({ openMs: 50 })],
      retry: false,
    });
    expect(await failureOf(agent.listTasks())).toMatchObject({ code: 'NETWORK' });
    silent.close();
  });

  it('of a port that is closed is named, and another interface is used if there is one', async () => {
    const served = await serve();
    const closed = cardAt('ws://127.0.0.1:1/ws');
    const agent = await connect(closed, { bindings, retry: { attempts: 2, firstMs: 1 } });
    const error = (await failureOf(agent.getTask({ id: 't' }))) as Error;
    expect(error).toMatchObject({ code: 'NETWORK' });
    expect(error.message).toContain('(ECONNREFUSED)');
    const supportedInterfaces = [...closed.supportedInterfaces, ...cardAt(served.url).supportedInterfaces];
    const both = await connect({ ...closed, supportedInterfaces }, { bindings });
    expect((await both.send('100 USD')).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(both.interface.url).toBe(served.url);
  });

  it('has the credentials, to trusted origins only; new ones open another connection', async () => {
    const served = await serve({
      authenticate: ({ headers }) => (headers['x-key'] ? { scope: headers['x-key'] } : undefined),
    });
    const strange = await connect(served.origin.replace('127.0.0.1', 'localhost'), {
      bindings,
      headers: { 'x-key': 'ada' },
    });
    expect(await failureOf(strange.listTasks())).toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: expect.stringContaining('is not in trustedOrigins'),
    });
    const ada = await clientOf(served, { headers: { 'x-key': 'ada' } });
    const ben = await clientOf(served, { headers: { 'x-key': 'ben' } });
    const { task } = await ada.send('100 USD');
    expect((await ada.listTasks()).tasks).toHaveLength(1);
    expect(await failureOf(ben.getTask({ id: task!.id }))).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(served.endpoint.connections).toBe(2);
  });

  it.each(['unary', 'stream'])('is repeated once with new credentials after a refusal: %s', async (kind) => {
    const asked: unknown[] = [];
    const served = await serve({
      authenticate: ({ headers }) => (headers.authorization === 'Bearer new' ? { scope: 'ada' } : undefined),
    });
    const agent = await clientOf(served, {
      credentials(request) {
        asked.push(request);
        return { Authorization: `Bearer ${'challenge' in request ? 'new' : 'old'}` };
      },
    });
    asked.length = 0;
    const result = kind === 'unary' ? agent.send('100 USD') : agent.stream('100 USD').result();
    expect(await result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const url = served.url.replace('ws', 'http');
    expect(asked.slice(0, 2)).toMatchObject([{ url }, { url, challenge: expect.any(String) }]);
  });
});

describe('a connection', () => {
  /** Says `one`, `two` and `three`, each after a gate. */
  function steps() {
    const gates = [gate(), gate()];
    async function* agent(_: Turn): Updates {
      yield working('one');
      await gates[0]!.promise;
      yield working('two');
      await gates[1]!.promise;
      yield completed('three');
    }
    return { gates, agent };
  }
  const textIn = (event: { statusUpdate?: unknown }) =>
    /"text":"(\w+)"/.exec(JSON.stringify(event.statusUpdate ?? ''))?.[1] ?? 'task';

  it('that breaks is made again, and streams go on after their last events [R-WS-21] [R-WS-31]', async () => {
    const { gates, agent: updates } = steps();
    const served = await serve({ agent: updates });
    const proxy = await proxyTo(served);
    const agent = await connect(cardAt(`ws://127.0.0.1:${proxy.port}/ws`), {
      bindings,
      retry: { firstMs: 1 },
    });
    const said: string[] = [];
    for await (const event of agent.stream('go')) {
      const text = textIn(event);
      said.push(text);
      if (text !== 'one' && text !== 'two') continue;
      proxy.cut();
      gates[text === 'one' ? 0 : 1]!.resolve();
    }
    expect(said).toEqual(['task', 'one', 'two', 'three']);
  });

  it('whose credentials expire is replaced by one with new credentials, and streams go on [R-WS-19]', async () => {
    const { gates, agent: updates } = steps();
    let good = 'Bearer 1';
    const served = await serve(
      {
        agent: updates,
        authenticate: ({ headers }) => (headers.authorization === good ? { scope: 'ada' } : undefined),
      },
      { recheckMs: 20 },
    );
    const agent = await clientOf(served, {
      credentials: () => ({ authorization: good }),
      retry: { firstMs: 1 },
    });
    const said: string[] = [];
    for await (const event of agent.stream('go')) {
      said.push(textIn(event));
      if (said.at(-1) === 'one') {
        good = 'Bearer 2';
        await expect.poll(() => served.endpoint.connections, { timeout: 20_000, interval: 50 }).toBe(0);
        for (const { resolve } of gates) resolve();
      }
    }
    expect(said).toEqual(['task', 'one', 'two', 'three']);
  });

  it('that falls silent is noticed while calls wait', async () => {
    const served = await serve();
    const proxy = await proxyTo(served);
    const agent = await connect(cardAt(`ws://127.0.0.1:${proxy.port}/ws`), {
      bindings: [webSocketClient({ probeMs: 50, answerMs: 1_000 })],
      retry: false,
    });
    // The agent answers the probes.
    const waiting = agent.send('wait');
    await Promise.race([waiting, agent.listTasks()]);
    proxy.freeze();
    expect(await failureOf(waiting)).toMatchObject({ code: 'NETWORK' });
  });

  it('is closed when it was idle, and another one is opened then', async () => {
    const served = await serve();
    const agent = await clientOf(served, { bindings: [webSocketClient({ idleMs: 20 })] });
    await agent.listTasks();
    await expect.poll(() => served.endpoint.connections).toBe(0);
    await agent.listTasks();
    expect(served.endpoint.connections).toBe(1);
  });

  it('of many streams delivers each one in order', async () => {
    const served = await serve();
    const agent = await clientOf(served);
    const all = await Promise.all(
      Array.from({ length: 50 }, async (_, number) => {
        const kinds: string[] = [];
        const stream = agent.stream(`${number} USD`);
        for await (const event of stream) kinds.push(Object.keys(event)[0]!);
        return [kinds.join(), stream.task?.artifacts?.[0]?.parts[0]];
      }),
    );
    expect(all).toEqual(
      all.map((_, number) => [
        'task,statusUpdate,artifactUpdate,statusUpdate',
        { text: `${number} USD = 92 EUR` },
      ]),
    );
    expect(served.endpoint.connections).toBe(1);
  });
});

describe('a call', () => {
  it('ends with its deadline, and the task goes on', async () => {
    const served = await serve();
    // The deadline passes once the turn has begun.
    const sleep = () => expect.poll(() => served.server.load.turns).toBe(1);
    const agent = await clientOf(served, { clock: { sleep }, timeoutMs: 0 });
    expect(await failureOf(agent.send('wait', { timeoutMs: 200 }))).toMatchObject({ code: 'TIMEOUT' });
    expect(served.server.load.turns).toBe(1);
    expect(served.endpoint.connections).toBe(1);
  });

  it.each(['unary', 'stream'])('ends when its signal aborts: %s', async (kind) => {
    const served = await serve();
    const agent = await clientOf(served);
    const aborting = new AbortController();
    const options = { signal: aborting.signal };
    const result = kind === 'unary' ? agent.send('wait', options) : agent.stream('wait', options).result();
    result.catch(() => {});
    await expect.poll(() => served.server.load.turns).toBe(1);
    aborting.abort('enough');
    expect(await failureOf(result)).toMatchObject({ code: 'ABORTED', cause: 'enough' });
    expect(await agent.listTasks()).toMatchObject({ totalSize: 1 });
  });

  it('that is left frees its place at the server', async () => {
    const served = await serve({}, { streams: 1 });
    const agent = await clientOf(served);
    for (let n = 0; n < 3; n++) {
      for await (const _ of agent.stream('wait')) break;
    }
    expect(served.server.load.turns).toBe(3);
  });

  it('has the null members of other implementations taken out [R-JSON-12]', async () => {
    const task = {
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_COMPLETED', message: null },
      history: null,
    };
    const url = await foreign(({ id }, send) => send({ id, result: task }));
    const agent = await connect(cardAt(url), { bindings });
    expect(await agent.getTask({ id: 't' })).toEqual({
      id: 't',
      contextId: 'c',
      status: { state: 'TASK_STATE_COMPLETED' },
    });
  });
});

describe('a stream of another implementation [R-CB-10]', () => {
  const status = (state: string) => ({
    statusUpdate: { taskId: 't', contextId: 'c', status: { state: `TASK_STATE_${state}` } },
  });

  it('has no positions, and frames that nobody asked for are left alone [R-WS-02] [R-WS-14]', async () => {
    const url = await foreign(({ id, method }, send) => {
      if (method !== 'SendStreamingMessage') return;
      send({ id: 99, result: {} });
      send({ jsonrpc: '2.0', control: 'Something' });
      send({ id: 'x', error: { code: -32_603, message: 'of nobody' } });
      send({
        jsonrpc: '2.0',
        id,
        result: { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } },
      });
      send({ jsonrpc: '2.0', id, result: status('COMPLETED') });
      send({ jsonrpc: '2.0', id, streamEnd: true });
    });
    const agent = await connect(cardAt(url), { bindings });
    const stream = agent.stream('hi');
    expect(await stream.result()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(stream.lastEventId).toBeUndefined();
  });

  it('that announces the end of its credentials gets further calls on another connection [R-WS-19]', async () => {
    let connections = 0;
    const url = await foreign(
      ({ id, method }, send) => {
        if (method === 'GetTask')
          send({ id, result: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } });
        send({ jsonrpc: '2.0', control: 'ReauthenticationRequired', reason: 'expired', retryAfterMs: 1 });
      },
      'a2a.v1',
      () => {
        connections += 1;
      },
    );
    const agent = await connect(cardAt(url), { bindings });
    await agent.getTask({ id: 't' });
    await expect.poll(async () => agent.getTask({ id: 't' }).then(() => connections)).toBeGreaterThan(1);
  });
});

async function proxyTo({ url }: ServedAgent) {
  const proxy = await startTcpProxy(Number(new URL(url).port));
  onTestFinished(() => proxy.close());
  return proxy;
}
