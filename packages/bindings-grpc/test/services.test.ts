import { getEventListeners, once } from 'node:events';
import type { AnswerCall } from '@batonjs/bindings';
import { v03Grpc } from '@batonjs/bindings-v0-3';
import { connect } from '@batonjs/client';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grpcClient, listenGrpc } from '../src/index.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { messageTypes } from '../src/wire/message-types.ts';
import { serve, serveTarget } from './agent.ts';
import { message, rawClient, readAll, refused } from './raw-client.ts';

const asIs = (bytes: Buffer) => bytes;
async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}
const answer =
  (result: unknown, extensions: readonly string[] = []) =>
  async () =>
    ({ result, extensions }) as never;
const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };

describe('a call', () => {
  it('carries what its metadata says', async () => {
    const calls: Parameters<AnswerCall>[0][] = [];
    const { address } = await serveTarget({
      answerCall: async (call) => {
        calls.push(call);
        return { result: task, extensions: [] } as never;
      },
    });
    const { client } = rawClient(address);
    const metadata = new Metadata();
    metadata.add('x-list', 'a');
    metadata.add('x-list', 'b');
    metadata.add('x-name', 'ada');
    metadata.add('x-key-bin', Buffer.from('x'));
    metadata.add('last-event-id', 'p');
    const request = Buffer.from(encodeMessage(messageTypes({ R: '2 id string' }).R, { id: 't' }));
    await new Promise((resolve, reject) =>
      client.makeUnaryRequest(
        '/lf.a2a.v1.A2AService/GetTask',
        asIs,
        asIs,
        request,
        metadata,
        (error, value) => (error ? reject(error) : resolve(value)),
      ),
    );
    const [call] = calls;
    expect(call).toMatchObject({
      operation: 'GetTask',
      binding: 'GRPC',
      version: '1.0',
      path: '/lf.a2a.v1.A2AService/GetTask',
      remoteAddress: '127.0.0.1',
      lastEventId: 'p',
      headers: { 'x-list': 'a, b', 'x-name': 'ada', 'last-event-id': 'p' },
    });
    expect(Object.keys(call!.headers).filter((name) => name.endsWith('-bin'))).toEqual([]);
    expect(call!.readParams()).toEqual({ id: 't' });
  });

  it('has extensions in its metadata only if there are any, and in the trailers of an error', async () => {
    for (const [extensions, expected] of [
      [[], []],
      [['a', 'b'], ['a, b']],
    ] as const) {
      const { address } = await serveTarget({ answerCall: answer(task, extensions) });
      expect((await rawClient(address).call('GetTask', { id: 't' })).initial.get('a2a-extensions')).toEqual(
        expected,
      );
      const broken = await serveTarget({ answerCall: answer({ id: 7 }, extensions) });
      const error = await rawClient(broken.address)
        .call('GetTask', { id: 't' })
        .catch((thrown) => thrown);
      expect([error.code, error.metadata.get('a2a-extensions')]).toEqual([status.INTERNAL, expected]);
    }
  });

  it('of one result may have none, and a stream no events', async () => {
    const { address } = await serveTarget({
      answerCall: async ({ operation }) =>
        (operation === 'SubscribeToTask'
          ? { result: {}, extensions: [] }
          : { events: { next: async () => undefined, close() {} }, extensions: [] }) as never,
    });
    const { call, stream } = rawClient(address);
    expect((await call('DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' })).result).toEqual({});
    expect(await readAll(stream('SubscribeToTask', { id: 't' }))).toEqual({ events: [] });
  });

  it('that is a stream says its extensions, and closes its events at its end', async () => {
    let closed = 0;
    const { address } = await serveTarget({
      answerCall: async () => ({
        extensions: ['a', 'b'],
        events: {
          next: async () => undefined,
          close() {
            closed += 1;
          },
        },
      }),
    });
    const following = rawClient(address).stream('SubscribeToTask', { id: 't' });
    const metadata = once(following, 'metadata');
    await readAll(following);
    expect((await metadata)[0].get('a2a-extensions')).toEqual(['a, b']);
    expect(closed).toBe(1);
  });

  it('that is a stream keeps no listener of the times that its client read slowly', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => void warnings.push(name);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const event = { artifactUpdate: { taskId: 't', artifact: { parts: [{ text: 'x'.repeat(100_000) }] } } };
    let left = 20;
    const { address } = await serveTarget({
      answerCall: async () =>
        ({
          extensions: [],
          events: {
            async next() {
              left -= 1;
              if (left < 0) return undefined;
              return {
                events: Array.from({ length: 20 }, (_, id) => ({ id: `${id}`, event: { value: event } })),
              };
            },
            close() {},
          },
        }) as never,
    });
    const { events } = await readAll(rawClient(address).stream('SubscribeToTask', { id: 't' }));
    expect(events).toHaveLength(400);
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it('with too many values is refused', async () => {
    const { address } = await serve({ limits: { jsonValues: 10 } });
    const error = await refused(
      rawClient(address).call('SendMessage', message('', { parts: Array(20).fill({ text: 'x' }) })),
    );
    expect(error).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: [{ reason: 'INVALID_REQUEST' }, {}],
    });
  });
});

describe('health', () => {
  const path = '/grpc.health.v1.Health/';
  const wrong = 'The request is no HealthCheckRequest';
  const check = (client: Client, request: Buffer) =>
    new Promise<Buffer>((resolve, reject) =>
      client.makeUnaryRequest(`${path}Check`, asIs, asIs, request, (error, value) =>
        error ? reject(error) : resolve(value!),
      ),
    );

  it('says why it does not answer', async () => {
    const { client } = rawClient((await serve()).address);
    const other = Buffer.from([10, 3, 97, 46, 66]);
    await expect(check(client, other)).rejects.toMatchObject({
      code: status.NOT_FOUND,
      details: 'There is no such service here',
    });
    const broken = Buffer.from([10, 200]);
    await expect(check(client, broken)).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: wrong,
    });
    const watch = client.makeServerStreamRequest(`${path}Watch`, asIs, asIs, broken);
    await expect(all(watch)).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: wrong,
    });
  });

  it('tells those who watch a service that there is none, and waits', async () => {
    const { client } = rawClient((await serve()).address);
    const watch = client.makeServerStreamRequest(
      `${path}Watch`,
      asIs,
      asIs,
      Buffer.from([10, 3, 97, 46, 66]),
    );
    watch.on('error', () => {});
    expect([...(await once(watch, 'data'))[0]]).toEqual([8, 3]);
    watch.cancel();
  });

  it('says NOT_SERVING while the store takes no writes', async () => {
    const { address } = await serveTarget({ ready: async () => false });
    expect([...(await check(rawClient(address).client, Buffer.alloc(0)))]).toEqual([8, 2]);
  });
});

describe('a client', () => {
  const card = (url: string) => ({
    name: 'C',
    description: 'C',
    version: '1',
    capabilities: { streaming: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
  });

  it.each(['call', 'stream'] as const)('leaves nothing at a signal that lasts: %s', async (kind) => {
    const { address } = await serve();
    const transport = grpcClient();
    const { signal } = new AbortController();
    const request = {
      url: address,
      headers: { 'a2a-version': '1.0', 'x-a': 'b' },
      signal,
      maxBytes: 1e6,
    } as never;
    if (kind === 'call') {
      expect(await transport.call({ operation: 'ListTasks', params: {} } as never, request)).toMatchObject({
        tasks: [],
      });
      await expect(
        transport.call({ operation: 'GetTask', params: { id: 'x' } } as never, request),
      ).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    } else {
      const call = { operation: 'SendStreamingMessage', params: message('100 USD') } as never;
      const events = await all(transport.stream(call, request));
      expect(events.map(({ id }) => typeof id)).toEqual(Array(4).fill('string'));
      await expect(
        all(transport.stream({ operation: 'SubscribeToTask', params: { id: 'x' } } as never, request)),
      ).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each(['call', 'stream'] as const)(
    'rejects with the reason of its signal, and ends the call: %s',
    async (kind) => {
      const started = Promise.withResolvers<AbortSignal>();
      const { address } = await serveTarget({
        answerCall: ({ signal }) => {
          started.resolve(signal);
          return new Promise(() => {});
        },
      });
      const transport = grpcClient();
      const leaving = new AbortController();
      const request = { url: address, headers: {}, signal: leaving.signal, maxBytes: 1e6 } as never;
      const result =
        kind === 'call'
          ? transport.call({ operation: 'GetTask', params: { id: 't' } } as never, request)
          : all(transport.stream({ operation: 'SubscribeToTask', params: { id: 't' } } as never, request));
      const failure = result.then(
        () => undefined,
        (error: unknown) => error,
      );
      const signal = await started.promise;
      leaving.abort('enough');
      expect(await failure).toBe('enough');
      await expect.poll(() => signal.aborted).toBe(true);
    },
  );

  it('that leaves a stream ends it', async () => {
    const { server, address } = await serve();
    const closed = Promise.withResolvers<void>();
    const listener = await listenGrpc(
      {
        ...server,
        answerCall: async () => ({
          extensions: [],
          events: {
            next: async () => ({ events: [{ id: 'p', event: { value: { task }, text: '' } }] }) as never,
            close: () => closed.resolve(),
          },
        }),
      },
      { port: 0 },
    );
    onTestFinished(() => listener.close({ graceMs: 0 }));
    let opened = 0;
    const request = {
      url: listener.address,
      headers: {},
      signal: new AbortController().signal,
      maxBytes: 1e6,
      onOpen() {
        opened += 1;
      },
    };
    const call = { operation: 'SubscribeToTask', params: { id: 't' } } as never;
    for await (const event of grpcClient().stream(call, request as never)) {
      expect(event).toEqual({ id: 'p', event: { task } });
      break;
    }
    await closed.promise;
    expect([opened, address]).toEqual([1, expect.any(String)]);
  });

  it('has options of grpc-js', async () => {
    const { address } = await serveTarget({ answerCall: answer({}) });
    const agent = await connect(card(address) as never, {
      bindings: [grpcClient({ channelOptions: { 'grpc.max_send_message_length': 10 } })],
      retry: false,
    });
    await expect(agent.getTask({ id: 'x'.repeat(20) })).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    });
  });

  it('speaks no operation that its version does not have', async () => {
    const transport = grpcClient({ version: v03Grpc() });
    const request = { url: 'localhost:1', headers: {}, signal: new AbortController().signal, maxBytes: 1e6 };
    await expect(
      transport.call({ operation: 'ListTasks', params: {} } as never, request as never),
    ).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION', message: 'A2A 0.3 has no ListTasks' });
  });

  it('speaks one version, at an address in one form', () => {
    const transport = grpcClient();
    expect([transport.name, transport.version]).toEqual(['GRPC', '1.0']);
    expect(transport.urlOf('localhost:1')).toBe('http://localhost:1');
    expect(transport.urlOf('a.example:1')).toBe('https://a.example:1');
    expect(transport.urlOf('unix:/a')).toBeUndefined();
    expect(grpcClient({ plaintext: true }).urlOf('a.example:1')).toBe('http://a.example:1');
  });
});

describe('a listener', () => {
  it.each(['http://127.0.0.1:0', 'nowhere.invalid'])('rejects for the host %s', async (host) => {
    const { server } = await serve();
    await expect(listenGrpc(server, { port: 0, host, plaintext: true })).rejects.toThrow();
  });

  it('listens at an address of IPv6', async () => {
    const { server } = await serve();
    const listener = await listenGrpc(server, { port: 0, host: '::1' });
    onTestFinished(() => listener.close({ graceMs: 0 }));
    expect(listener.address).toBe(`[::1]:${listener.port}`);
    const client = new Client(listener.address!, credentials.createInsecure());
    onTestFinished(() => client.close());
    const bytes = await new Promise<Buffer | undefined>((resolve, reject) =>
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', asIs, asIs, Buffer.alloc(0), (error, value) =>
        error ? reject(error) : resolve(value),
      ),
    );
    expect([...bytes!]).toEqual([8, 1]);
    const anywhere = await listenGrpc(server, { port: 0, host: '::', plaintext: true });
    expect(anywhere.address).toBeUndefined();
    await anywhere.close();
  });

  it('is closed once', async () => {
    const { listener } = await serve();
    const [first, second] = [listener.close(), listener.close()];
    expect(first).toBe(second);
    await first;
  });
});
