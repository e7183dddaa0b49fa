import { createServer } from 'node:http';
import {
  type ClientBinding,
  type ClientTransport,
  decodeSse,
  httpJsonClient,
  jsonRpcClient,
} from '@batonjs/bindings';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03, v03Client, v03Grpc } from '@batonjs/bindings-v0-3';
import { attachWebSocket, webSocketClient } from '@batonjs/bindings-websocket';
import type { StreamResponse } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';
import type { Agent, AgentServer, AgentServerOptions } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { describe, onTestFinished } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { listen } from '../kit/listen.ts';
import { repetitions } from '../kit/repetitions.ts';
import type { Seen } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { seenOverAgUi } from './over-ag-ui.ts';

/** Where a row of docs/reports/conformance.md is tested: each binding, adapter and store. */
export interface Setting {
  readonly binding: 'JSONRPC' | 'HTTP+JSON' | 'GRPC' | 'WebSocket';
  /** gRPC has a port of its own; the HTTP side of the agent is asked in process then. */
  readonly adapter: 'in process' | 'Express' | 'its own port';
  readonly store: 'memory' | 'SQLite';
  /** Of the protocol; 1.0 if undefined. */
  readonly version?: '0.3';
}

const roads = [
  { binding: 'JSONRPC', adapter: 'in process' },
  { binding: 'JSONRPC', adapter: 'Express' },
  { binding: 'HTTP+JSON', adapter: 'Express' },
  { binding: 'HTTP+JSON', adapter: 'in process' },
  { binding: 'GRPC', adapter: 'its own port' },
  { binding: 'WebSocket', adapter: 'Express' },
] as const;
const stores = ['memory', 'SQLite'] as const;
/**
 * What a store does is the same on every road, which its own tests show: short runs take the stores in turns, so that each
 * binding and each adapter of HTTP meets both. Long ones take all pairs.
 */
const settings = roads.flatMap((road, n) =>
  (repetitions(0, 1) ? stores : [stores[n % 2]!]).map((store): Setting => ({ ...road, store })),
);

/** A client of one agent, over one binding. It sees what any client sees. */
export interface Peer {
  readonly server: AgentServer;
  readonly binding: Setting['binding'];
  /** Where the agent is, without trailing slash. */
  readonly url: string;
  /** Resolves to the result; rejects with the `A2AError` of the wire. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read results with matchers
  call(operation: OperationName, params: object, headers?: Record<string, string>): Promise<any>;
  /** Leaving the loop leaves the stream. */
  stream(operation: OperationName, params: object, headers?: Record<string, string>): AsyncGenerator<Seen>;
  /** Any request below the agent. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

type Block = (serve: (agent: Agent, options?: Partial<AgentServerOptions>) => Promise<Peer>) => void;

/** Runs a block of tests in every setting. `serve` starts an agent there, and closes it when the test ends. */
export const everywhere = (title: string, block: Block): void => inSettings(settings, title, block);

/** Runs a block of tests in every setting over HTTP: for what only HTTP has, such as statuses and CORS. */
export const everywhereOverHttp = (title: string, block: Block): void =>
  inSettings(
    settings.filter(({ binding }) => binding === 'JSONRPC' || binding === 'HTTP+JSON'),
    title,
    block,
  );

function inSettings(some: readonly Setting[], title: string, block: Block): void {
  describe.each(some)(`${title}: $binding, $adapter, $store`, (setting) => {
    block((agent, options) => open(setting, agent, options));
  });
}

/** Runs a block of tests about the wire on every adapter. The store makes no difference to them. */
export function onEveryAdapter(title: string, block: Block): void {
  describe.each(['in process', 'Express'] as const)(`${title}: %s`, (adapter) => {
    block((agent, options) => open({ binding: 'JSONRPC', adapter, store: 'memory' }, agent, options));
  });
}

/** Starts an agent in one setting. */
export async function open(
  { binding: name, adapter, store: kind, version }: Setting,
  agent: Agent,
  options: Partial<AgentServerOptions> = {},
): Promise<Peer> {
  const store = options.store ?? (kind === 'memory' ? memoryStore() : sqliteStore(':memory:'));
  closedAfterTest(store);
  const app = express();
  const listener = createServer(app);
  const url = adapter === 'Express' ? `${await listen(listener)}/agent` : 'http://localhost';
  const server = serve(agent, {
    card: { name: 'Row', description: 'For tests' },
    store,
    // Only requests of HTTP say where the other interfaces are.
    ...(name === 'WebSocket' && { publicUrl: url }),
    ...(version && { compatibility: [v03()] }),
    ...options,
  });
  if (name === 'JSONRPC' && adapter === 'in process' && kind === 'memory' && !version)
    seenOverAgUi(server, options);
  app.use('/agent', a2aExpress(server));
  const send =
    adapter === 'Express'
      ? fetch
      : (input: string, init?: RequestInit) => server.fetch(new Request(input, init));
  const below = (path: string, init?: RequestInit) => send(`${url}${path}`, init);
  if (name === 'WebSocket') {
    const endpoint = closedAfterTest(attachWebSocket(server, listener, { path: '/agent/ws' }));
    const client = webSocketClient();
    onTestFinished(() => client.close());
    return { server, binding: name, url, fetch: below, ...overTransport(client, endpoint.url!) };
  }
  if (name === 'GRPC')
    return { server, binding: name, url, fetch: below, ...(await overGrpc(server, version)) };
  const clients: readonly ClientBinding[] = version ? v03Client().bindings : [jsonRpcClient, httpJsonClient];
  const binding = clients.find((client) => client.name === name)!;

  const ask = (operation: OperationName, params: object, more: Record<string, string>) => {
    const call = { operation, params: params as Record<string, unknown> };
    const { url: target, method, headers, body } = binding.encodeCall(call, url);
    return send(target, { method, headers: { 'a2a-version': version ?? '1.0', ...headers, ...more }, body });
  };
  const decode = async (operation: OperationName, response: Response) =>
    binding.decodeReply(
      { operation, params: {} },
      { status: response.status, headers: response.headers, body: await response.text() },
    );

  return {
    server,
    binding: name,
    url,
    call: async (operation, params, headers = {}) => decode(operation, await ask(operation, params, headers)),
    async *stream(operation, params, headers = {}) {
      const response = await ask(operation, params, headers);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
        await decode(operation, response);
        throw new Error('Neither a stream nor an error');
      }
      for await (const { id, data } of decodeSse(response.body)) {
        yield { id, event: binding.decodeEvent({ operation, params: {} }, data) as StreamResponse };
      }
    },
    fetch: below,
  };
}

const overChannel = grpcClient();
const overOldChannel = grpcClient({ version: v03Grpc() });

/** The calls of a peer over gRPC, at a port of their own. */
async function overGrpc(
  server: AgentServer,
  version: Setting['version'],
): Promise<Pick<Peer, 'call' | 'stream'>> {
  const listener = await listenGrpc(server, { port: 0, ...(version && { versions: [v03Grpc()] }) });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  return overTransport(version ? overOldChannel : overChannel, `127.0.0.1:${listener.port}`);
}

/** The calls of a peer over a binding that carries them itself. */
function overTransport(transport: ClientTransport, url: string): Pick<Peer, 'call' | 'stream'> {
  const prepare = (operation: OperationName, params: object, headers: Record<string, string>) => {
    const lowered = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]);
    return [
      { operation, params: params as Record<string, unknown> },
      {
        url,
        headers: { 'a2a-version': transport.version, ...Object.fromEntries(lowered) },
        signal: new AbortController().signal,
        maxBytes: 2 ** 26,
      },
    ] as const;
  };
  return {
    call: async (operation, params, headers = {}) => transport.call(...prepare(operation, params, headers)),
    async *stream(operation, params, headers = {}) {
      for await (const { id, event } of transport.stream(...prepare(operation, params, headers))) {
        yield { id, event: event as StreamResponse };
      }
    },
  };
}

/** A promise to be resolved from outside: lets a test decide when an agent goes on. */
export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}
