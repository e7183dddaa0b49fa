import { once } from 'node:events';
import { createServer } from 'node:net';
import { v03Grpc } from '@batonjs/bindings-v0-3';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grpcService, listenGrpc } from '../src/index.ts';
import { echo, serve } from './agent.ts';
import { message, rawClient, readAll } from './raw-client.ts';

describe('listenGrpc', () => {
  it('lists its address in the card until it is closed (R-GRPC-06)', async () => {
    const { server, listener, address } = await serve();
    const bindings = async () => {
      const reply = await server.fetch(new Request('http://localhost/.well-known/agent-card.json'));
      const { supportedInterfaces } = (await reply.json()) as {
        supportedInterfaces: { protocolBinding: string; url: string }[];
      };
      return supportedInterfaces.map(({ protocolBinding, url }) => `${protocolBinding} ${url}`);
    };
    expect(await bindings()).toEqual([
      'JSONRPC http://localhost',
      'HTTP+JSON http://localhost',
      `GRPC ${address}`,
    ]);
    await listener.close();
    expect(await bindings()).toEqual(['JSONRPC http://localhost', 'HTTP+JSON http://localhost']);
  });

  it.each([
    [undefined, ['1.0 own', '0.3 own']],
    ['grpc.agents.example:443', ['1.0 grpc.agents.example:443', '0.3 grpc.agents.example:443']],
    [{ '0.3': 'https://grpc.agents.example' }, ['1.0 own', '0.3 https://grpc.agents.example']],
    [{ '1.0': 'http://localhost:1', '0.3': false as const }, ['1.0 http://localhost:1']],
    [{ '1.0': false as const }, ['0.3 own']],
    [false as const, []],
  ])('lists the address %o as it is given', async (address, wanted) => {
    const listed: string[] = [];
    const { server } = await serve();
    const target = {
      ...server,
      addInterface: ({ url, protocolVersion }: { url: string; protocolVersion: string }) => {
        listed.push(`${protocolVersion} ${url}`);
        return () => {};
      },
    };
    const listener = await listenGrpc(target, { port: 0, address, versions: [v03Grpc()] });
    onTestFinished(() => listener.close());
    const own = `127.0.0.1:${listener.port}`;
    expect(listed).toEqual(wanted.map((each) => each.replace('own', own)));
    expect(listener.address).toBe(listed.find((each) => each.startsWith('1.0'))?.slice(4));
    const { client } = rawClient(own);
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + 30_000, (error) => (error ? reject(error) : resolve())),
    );
  });

  it('knows the versions that it serves', async () => {
    const { server } = await serve();
    const listening = listenGrpc(server, { port: 0, address: { '0.3': 'http://localhost:1' } });
    await expect(listening).rejects.toThrow(/address.*0\.3/);
  });

  it('closes when the calls that run have ended', async () => {
    const { server, listener, address } = await serve();
    const { call, client, stream } = rawClient(address);
    const following = stream('SendStreamingMessage', message('wait'));
    const [first] = await once(following, 'data');
    const rest = readAll(following);
    expect(first).toBeInstanceOf(Buffer);
    const closing = listener.close();
    await server.close({ graceMs: 0 });
    await closing;
    expect((await rest).events.at(-1)).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_FAILED' } },
    });
    client.close();
    await expect(call('GetTask', { id: 't' })).rejects.toThrow();
  });

  it('lets calls end though the time for a ping comes meanwhile', async () => {
    const { server } = await serve();
    const event = { message: message('hi').message };
    const begun = Promise.withResolvers<void>();
    let sent = 0;
    const slow: Pick<typeof server, 'answerCall'> = {
      answerCall: async () => ({
        extensions: [],
        events: {
          async next() {
            await new Promise((resolve) => setTimeout(resolve, 20));
            sent += 1;
            if (sent === 2) begun.resolve();
            return sent > 10
              ? undefined
              : { events: [{ id: `l.${sent}`, event: { value: event } as never }] };
          },
          close: () => {},
        },
      }),
    };
    const channelOptions = { 'grpc.keepalive_time_ms': 20 };
    const listener = await listenGrpc({ ...server, ...slow }, { port: 0, channelOptions });
    const rest = readAll(rawClient(listener.address!).stream('SubscribeToTask', { id: 't' }));
    await begun.promise;
    await listener.close();
    const { events, error } = await rest;
    expect(error).toBeUndefined();
    expect(events).toHaveLength(10);
  });

  it('breaks off the calls that run when its time is over', async () => {
    const { server } = await serve();
    const channelOptions = { 'grpc.keepalive_time_ms': 2 ** 31 - 1 };
    const listener = await listenGrpc(server, { port: 0, channelOptions });
    const following = rawClient(listener.address!).stream('SendStreamingMessage', message('wait'));
    await once(following, 'data');
    const rest = readAll(following);
    await listener.close({ graceMs: 0 });
    expect((await rest).error).toMatchObject({ code: expect.any(Number) });
  });

  it('refuses plaintext on other hosts than loopback, unless it is asked for (R-GRPC-63)', async () => {
    const { server } = await serve();
    await expect(listenGrpc(server, { port: 0, host: '0.0.0.0' })).rejects.toThrow(
      'gRPC on 0.0.0.0 needs `tls`, or `plaintext: true` behind a proxy that has it',
    );
    const anywhere = await listenGrpc(server, { port: 0, host: '0.0.0.0', plaintext: true });
    expect(anywhere.address).toBeUndefined();
    await anywhere.close();
  });

  it('rejects for a port that is taken', async () => {
    const { server } = await serve();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    await expect(listenGrpc(server, { port })).rejects.toThrow(/EADDRINUSE/);
    other.close();
  });
});

describe('grpcService', () => {
  it('is mounted on a server that exists already', async () => {
    const agent = createAgentServer({
      card: { name: 'Echo', description: 'Says it again' },
      agent: echo,
      store: memoryStore(),
    });
    const { definition, implementation } = grpcService(agent);
    const own = new Server();
    own.addService(definition, implementation);
    const port = await new Promise<number>((resolve, reject) => {
      own.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    const { result } = await rawClient(`127.0.0.1:${port}`).call('SendMessage', message('hi'));
    expect(result).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'You said hi' }] } });
    own.forceShutdown();
    await agent.close();
  });
});
