import { once } from 'node:events';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { type ConnectOptions, connect, isTerminal } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { completed, type Turn, type Updates, working } from '@batonjs/server';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { targetOf } from '../src/client/grpc-client.ts';
import { grpcClient } from '../src/index.ts';
import { definitionOf } from '../src/server/grpc-service.ts';
import { echo, serve } from './agent.ts';

const bindings = [grpcClient()];

/** A client of a server over gRPC, which reads the card as from its HTTP address. */
const clientOf = ({ server }: Awaited<ReturnType<typeof serve>>, options: ConnectOptions = {}) =>
  connect('http://localhost', { fetch: server.fetch, bindings, ...options });

/** A card that lists gRPC at an address, and nothing else. */
const cardAt = (server: { card: AgentCard }, url: string): AgentCard => ({
  ...server.card,
  supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
});

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('The call was answered'),
    (error: unknown) => error,
  );

describe('a client', () => {
  it('picks the interface of gRPC from the card, and makes every call over it', async () => {
    const seen: string[] = [];
    const served = await serve({
      card: {
        extended: { description: 'Converts more' },
        name: 'Converter',
        description: 'Converts money',
        capabilities: { extendedAgentCard: true, pushNotifications: true, streaming: true },
      },
      authenticate: ({ path }) => {
        seen.push(path.replace('/lf.a2a.v1.A2AService/', ''));
        return { scope: 'ada' };
      },
      push: {},
    });
    const agent = await clientOf(served);
    expect(agent.interface).toEqual({ url: served.address, protocolBinding: 'GRPC', protocolVersion: '1.0' });
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
    expect(new Set(seen)).toEqual(
      new Set([
        'SendMessage',
        'SendStreamingMessage',
        'GetTask',
        'ListTasks',
        'CancelTask',
        'SubscribeToTask',
        'CreateTaskPushNotificationConfig',
        'GetTaskPushNotificationConfig',
        'ListTaskPushNotificationConfigs',
        'DeleteTaskPushNotificationConfig',
        'GetExtendedAgentCard',
      ]),
    );
  });

  it('gets the same task over gRPC as over JSON-RPC', async () => {
    const served = await serve();
    const agent = await clientOf(served);
    const overJson = await connect('http://localhost', { fetch: served.server.fetch });
    const { task } = (await agent.send('100 USD')) as { task: { id: string } };
    expect(await agent.getTask({ id: task.id })).toEqual(await overJson.getTask({ id: task.id }));
  });

  it('sees events without the positions in them', async () => {
    const agent = await clientOf(await serve());
    const stream = agent.stream('100 USD');
    const events: unknown[] = [];
    for await (const event of stream) events.push(event);
    expect(JSON.stringify(events)).not.toContain('position');
    expect(stream.lastEventId).toMatch(/\.\d+~/);
  });

  it('gets the message of an agent that answers with one', async () => {
    const agent = await clientOf(await serve({ agent: echo }));
    expect(await agent.send('hi')).toMatchObject({ message: { parts: [{ text: 'You said hi' }] } });
    expect(await agent.stream('hi').result()).toMatchObject({
      message: { parts: [{ text: 'You said hi' }] },
    });
  });
});

describe('errors', () => {
  it('are the typed ones of the agent', async () => {
    const agent = await clientOf(await serve());
    const error = await failureOf(agent.getTask({ id: 'none' }));
    expect(A2AError.is(error, 'TASK_NOT_FOUND')).toBe(true);
    expect(error).toMatchObject({ message: 'Task not found', metadata: { taskId: 'none' }, details: [] });
    const wrong = await failureOf(agent.send({ parts: [{ url: 'nowhere' }] }));
    expect(wrong).toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [
        { fieldViolations: [{ field: 'message.parts[0].url', description: 'must be an absolute URL' }] },
      ],
    });
    const followed = await failureOf(agent.follow('none').result());
    expect(A2AError.is(followed, 'TASK_NOT_FOUND')).toBe(true);
  });

  it('name params that do not fit into a message before they are sent', async () => {
    const agent = await clientOf(await serve());
    const error = await failureOf(agent.getTask({ id: 7 as never }));
    expect(error).toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'Invalid parameters: id must be a string',
    });
  });

  it.each<[string, number, string]>([
    ['an agent without the operation (R-GRPC-78)', status.UNIMPLEMENTED, 'METHOD_NOT_FOUND'],
    ['an agent that says no more than NOT_FOUND (R-GRPC-77)', status.NOT_FOUND, 'TASK_NOT_FOUND'],
    ['an agent that forbids it', status.PERMISSION_DENIED, 'PERMISSION_DENIED'],
    ['an agent that broke', status.UNKNOWN, 'INTERNAL_ERROR'],
  ])('follow from the status code without details: %s', async (_, code, reason) => {
    const { server } = await serve();
    const address = await foreign({
      GetTask: (_call: unknown, respond: (error: object) => void) => respond({ code, details: 'x' }),
    });
    const agent = await connect(cardAt(server, address), { bindings });
    expect(await failureOf(agent.getTask({ id: 't' }))).toMatchObject({ reason, message: 'x' });
  });

  it('say that an answer is too large', async () => {
    const agent = await clientOf(await serve({ agent: echo }), { maxResponseBytes: 1_000 });
    expect(await failureOf(agent.send('x'.repeat(2_000)))).toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
  });

  it('say that a request is too large, and the client does not repeat it', async () => {
    const agent = await clientOf(await serve({ limits: { bodyBytes: 1_000 } }));
    expect(await failureOf(agent.send('x'.repeat(2_000)))).toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
  });

  it('say that an answer is no message', async () => {
    const { server } = await serve();
    const address = await foreign({
      GetTask: (_call: unknown, respond: (error: null, bytes: Buffer) => void) =>
        respond(null, Buffer.from([10, 200])),
    });
    const agent = await connect(cardAt(server, address), { bindings });
    expect(await failureOf(agent.getTask({ id: 't' }))).toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
  });
});

describe('a connection', () => {
  it('that breaks is made again, and the stream goes on after the last event', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    async function* steps(_: Turn): Updates {
      yield working('one');
      await gates[0]!.promise;
      yield working('two');
      await gates[1]!.promise;
      yield completed('three');
    }
    const { server, address } = await serve({ agent: steps });
    const proxy = await breakable(address);
    const agent = await connect(cardAt(server, proxy.address), { bindings, retry: { firstMs: 1 } });
    const said: string[] = [];
    const stream = agent.stream('go');
    for await (const event of stream) {
      const text = event.statusUpdate ? JSON.stringify(event.statusUpdate.status.message?.parts) : 'task';
      said.push(text);
      if (text.includes('one')) {
        proxy.cut();
        gates[0]!.resolve();
      }
      if (text.includes('two')) {
        proxy.cut();
        gates[1]!.resolve();
      }
    }
    expect(said).toEqual(['task', '[{"text":"one"}]', '[{"text":"two"}]', '[{"text":"three"}]']);
    expect(proxy.connections).toBeGreaterThan(2);
  });

  it('that is refused is tried again, and then named', async () => {
    const { server } = await serve();
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    const card = cardAt(server, `127.0.0.1:${port}`);
    const agent = await connect(card, { bindings, retry: { attempts: 2, firstMs: 1 } });
    const error = await failureOf(agent.getTask({ id: 't' }));
    expect(error).toMatchObject({ code: 'NETWORK' });
    expect((error as Error).message).toBe(
      `http://127.0.0.1:${port}/ cannot be reached (ECONNREFUSED): does the agent run at this address?`,
    );
  });

  it('that is refused makes the client fall back to the next interface', async () => {
    const served = await serve();
    const card: AgentCard = {
      ...served.server.card,
      supportedInterfaces: [
        { url: '127.0.0.1:1', protocolBinding: 'GRPC', protocolVersion: '1.0' },
        { url: served.address, protocolBinding: 'GRPC', protocolVersion: '1.0' },
      ],
    };
    const agent = await connect(card, { bindings });
    expect(await agent.listTasks()).toMatchObject({ tasks: [] });
    expect(agent.interface.url).toBe(served.address);
  });
});

describe('a call', () => {
  it('ends with its deadline, and the task goes on', async () => {
    const served = await serve();
    // The deadline passes once the turn has begun.
    const sleep = () => expect.poll(() => served.server.load.turns).toBe(1);
    const agent = await clientOf(served, { clock: { sleep }, timeoutMs: 0 });
    const error = await failureOf(agent.send('wait', { timeoutMs: 200 }));
    expect(error).toMatchObject({ code: 'TIMEOUT' });
    expect(served.server.load.turns).toBe(1);
  });

  it.each(['unary', 'stream'])('ends when its signal aborts: %s', async (kind) => {
    const served = await serve();
    const agent = await clientOf(served);
    const aborting = new AbortController();
    const options = { signal: aborting.signal };
    const result = kind === 'unary' ? agent.send('wait', options) : agent.stream('wait', options).result();
    result.catch(() => {});
    while (served.server.load.turns === 0) await new Promise((resolve) => setImmediate(resolve));
    aborting.abort('enough');
    expect(await failureOf(result)).toMatchObject({ code: 'ABORTED', cause: 'enough' });
  });

  it('carries headers to trusted origins only', async () => {
    const served = await serve({
      authenticate: ({ headers }) => (headers['x-key'] ? { scope: 'ada' } : undefined),
    });
    const headers = { 'X-Key': 'secret' };
    const stranger = await clientOf(served, { headers });
    expect(await failureOf(stranger.listTasks())).toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: expect.stringContaining('is not in trustedOrigins'),
    });
    const trusted = await clientOf(served, { headers, trustedOrigins: [`http://${served.address}`] });
    expect(await trusted.listTasks()).toMatchObject({ tasks: [] });
    const byCard = await connect(cardAt(served.server, served.address), { bindings, headers });
    expect(await byCard.listTasks()).toMatchObject({ tasks: [] });
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
    const result = kind === 'unary' ? agent.send('100 USD') : agent.stream('100 USD').result();
    expect(await result).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const url = `http://${served.address}`;
    // First of all, the card is read over HTTP.
    expect(asked.slice(1, 3)).toMatchObject([{ url }, { url, challenge: expect.any(String) }]);
  });

  it('sees the challenge of a refusal, and rejects with it', async () => {
    const challenge = 'Bearer realm="keys", error="insufficient_scope", scope="write"';
    const asked: unknown[] = [];
    const served = await serve({
      authenticate() {
        throw new A2AError('PERMISSION_DENIED', 'No', { challenge });
      },
    });
    const agent = await clientOf(served, {
      credentials(request) {
        asked.push(request.challenge);
        return { Authorization: `Bearer ${asked.length}` };
      },
    });
    expect(await failureOf(agent.listTasks())).toMatchObject({ reason: 'PERMISSION_DENIED', challenge });
    expect(asked.filter(Boolean)).toEqual([challenge]);
  });
});

describe('an address (R-GRPC-62)', () => {
  it.each<[string, boolean, ReturnType<typeof targetOf>]>([
    ['127.0.0.1:50051', false, { host: '127.0.0.1:50051', isSecure: false }],
    ['localhost:50051', false, { host: 'localhost:50051', isSecure: false }],
    ['[::1]:50051', false, { host: '[::1]:50051', isSecure: false }],
    ['agent.example:443', false, { host: 'agent.example:443', isSecure: true }],
    ['agent.example:80', true, { host: 'agent.example:80', isSecure: false }],
    ['grpcs://localhost:443/', false, { host: 'localhost:443', isSecure: true }],
    ['https://agent.example', false, { host: 'agent.example', isSecure: true }],
    ['http://agent.example:80', true, { host: 'agent.example:80', isSecure: false }],
    ['grpc://agent.example:80', false, undefined],
    ['http://agent.example:80', false, undefined],
    ['https://agent.example/path', false, undefined],
    ['unix:/tmp/socket', false, undefined],
    ['user@agent.example:1', false, undefined],
    ['', false, undefined],
  ])('%s, plaintext allowed: %s', (address, plaintext, target) => {
    expect(targetOf(address, plaintext)).toEqual(target);
  });

  it('in plaintext elsewhere is no interface that can be used', async () => {
    const { server } = await serve();
    await expect(connect(cardAt(server, 'http://agent.example:80'), { bindings })).rejects.toMatchObject({
      code: 'NO_INTERFACE',
    });
  });
});

it('has helpers of the client that work on what came over gRPC', async () => {
  const agent = await clientOf(await serve());
  const { task } = (await agent.stream('100 USD').result()) as { task: Parameters<typeof isTerminal>[0] };
  expect(isTerminal(task)).toBe(true);
});

/** A server of somebody else, with some methods. */
async function foreign(implementation: object): Promise<string> {
  const server = new Server();
  const methods = Object.keys(implementation).map((name) => ({ name }));
  server.addService(definitionOf('lf.a2a.v1.A2AService', methods), implementation as never);
  onTestFinished(() => server.forceShutdown());
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return `127.0.0.1:${port}`;
}

/** A proxy whose connections can be cut. */
async function breakable(address: string) {
  const open = new Set<Socket>();
  let connections = 0;
  const port = Number(address.split(':')[1]);
  const proxy = createServer((client) => {
    connections += 1;
    const server = connectTcp(port, '127.0.0.1');
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => {}).on('close', () => open.delete(socket));
    }
    client.pipe(server).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  const bound = proxy.address() as { port: number };
  return {
    address: `127.0.0.1:${bound.port}`,
    cut,
    get connections() {
      return connections;
    },
  };
}
