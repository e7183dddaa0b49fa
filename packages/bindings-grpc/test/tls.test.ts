import { type ConnectOptions, connect } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { authorityOf, certificateOf } from '../../../test/support/certificate.ts';
import { type GrpcClientOptions, type GrpcTls, grpcClient, listenGrpc } from '../src/index.ts';
import { converter } from './agent.ts';

const authority = authorityOf('Authority of the tests');

/** An agent with TLS, and the card that lists it. */
async function serve(tls: GrpcTls, asked: () => void = () => {}) {
  const server = createAgentServer({
    card: { name: 'Converter', description: 'Converts money' },
    agent: converter,
    store: memoryStore(),
    logger: () => {},
    authenticate: ({ headers }) => {
      asked();
      return headers['x-key'] === 'secret' ? { scope: 'ada' } : undefined;
    },
  });
  const listener = await listenGrpc(server, { port: 0, tls });
  onTestFinished(async () => {
    await Promise.all([server.close({ graceMs: 0 }), listener.close({ graceMs: 0 })]);
  });
  const url = `grpcs://127.0.0.1:${listener.port}`;
  const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  return { port: listener.port, card: { ...server.card, supportedInterfaces } satisfies AgentCard };
}

const clientOf = (card: AgentCard, tls: GrpcClientOptions['tls'], options: ConnectOptions = {}) =>
  connect(card, {
    bindings: [grpcClient({ ...(tls && { tls }) })],
    headers: { 'x-key': 'secret' },
    retry: false,
    ...options,
  });

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable('The call was answered'),
    (error: unknown) => error,
  );

describe('TLS (R-GRPC-63)', () => {
  it('carries calls and streams of a client that knows the authority', async () => {
    const { card } = await serve(authority.issue('agent.example'));
    const agent = await clientOf(card, { ca: authority.cert });
    const { task } = await agent.stream('100 USD').result();
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await agent.getTask({ id: task!.id })).toMatchObject({ id: task!.id });
  });

  it.each<[string, GrpcClientOptions['tls']]>([
    ['that trusts the authorities of Node.js alone', undefined],
    ['that trusts another authority', { ca: authorityOf('Another').cert }],
  ])('gets no call and no credentials from a client %s', async (_, tls) => {
    let calls = 0;
    const { card } = await serve(authority.issue('agent.example'), () => {
      calls += 1;
    });
    const agent = await clientOf(card, tls);
    expect(await failureOf(agent.listTasks())).toMatchObject({ code: 'NETWORK' });
    expect(await failureOf(agent.stream('hi').result())).toMatchObject({ code: 'NETWORK' });
    expect(calls).toBe(0);
  });

  it('is not verified by a client that rejects no certificate', async () => {
    const { card } = await serve(authority.issue('agent.example'));
    const agent = await clientOf(card, { rejectUnauthorized: false });
    expect((await agent.stream('100 USD').result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('gets no call from a client that checks the name of the host', async () => {
    // Good for 127.0.0.1 and for its name, not for `localhost`.
    const { card, port } = await serve(authority.issue('agent.example'));
    const supportedInterfaces = [
      { url: `grpcs://localhost:${port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
    ];
    const agent = await clientOf({ ...card, supportedInterfaces }, { ca: authority.cert });
    expect(await failureOf(agent.listTasks())).toMatchObject({ code: 'NETWORK' });
  });

  it('does not answer plaintext', async () => {
    const { card, port } = await serve(authority.issue('agent.example'));
    const supportedInterfaces = [
      { url: `http://127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
    ];
    const agent = await clientOf({ ...card, supportedInterfaces }, undefined);
    expect(await failureOf(agent.listTasks())).toMatchObject({ code: 'NETWORK' });
  });
});

describe('mutual TLS (R-GRPC-63)', () => {
  const mutual = (): GrpcTls => ({ ...authority.issue('agent.example'), clientCa: authority.cert });

  it('lets clients in whose certificate the authority signed; who calls is for authenticate to say', async () => {
    const { card } = await serve(mutual());
    const tls = { ca: authority.cert, ...authority.issue('client.example') };
    const agent = await clientOf(card, tls);
    expect((await agent.send('100 USD')).task?.status.state).toBe('TASK_STATE_COMPLETED');
    const stranger = await clientOf(card, tls, { headers: {} });
    expect(await failureOf(stranger.listTasks())).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it.each<[string, () => object]>([
    ['without a certificate', () => ({})],
    ['with one of its own', () => certificateOf('client.example')],
    ['with one of another authority', () => authorityOf('Another').issue('client.example')],
  ])('lets no client in %s', async (_, own) => {
    let calls = 0;
    const { card } = await serve(mutual(), () => {
      calls += 1;
    });
    const agent = await clientOf(card, { ca: authority.cert, ...own() });
    expect(await failureOf(agent.listTasks())).toMatchObject({ code: 'NETWORK' });
    expect(calls).toBe(0);
  });

  it('also guards health', async () => {
    const { port } = await serve(mutual());
    const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(authority.cert)));
    onTestFinished(() => client.close());
    const bytes = (value: Buffer) => value;
    const asked = new Promise((resolve, reject) => {
      const path = '/grpc.health.v1.Health/Check';
      client.makeUnaryRequest(path, bytes, bytes, Buffer.alloc(0), new Metadata(), (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(await failureOf(asked)).toMatchObject({ code: 14 });
  });
});
