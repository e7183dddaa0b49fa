import { createServer } from 'node:http';
import { type ClientBinding, type ClientTransport, httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { attachWebSocket, webSocketClient } from '@batonjs/bindings-websocket';
import { GENERATION } from '@batonjs/protocol/headers';
import type { OperationName } from '@batonjs/protocol/operations';
import type { AgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { onTestFinished } from 'vitest';
import { roads as httpRoads, type Mount } from '../kit/http/mounts.ts';
import { listen } from '../kit/listen.ts';

/** Calls an agent at a real port. Resolves when a stream has begun, or when a call ends; the signal breaks it off. */
export type Ask = (operation: OperationName, params: object, signal: AbortSignal) => Promise<unknown>;

/** Serves an agent in one way, until the test ends. `leave` breaks off what goes through one connection. */
export type Road = (server: AgentServer) => Promise<{ readonly ask: Ask; leave?(): void }>;

const headers = { 'a2a-version': '1.0', 'a2a-extensions': GENERATION };

const overHttp =
  (mount: Mount, binding: ClientBinding): Road =>
  async (server) => {
    const url = `${await listen(createServer(await mount(server)))}/agent`;
    return {
      async ask(operation, params, signal) {
        const call = binding.encodeCall({ operation, params: { ...params } }, url);
        const { method, body } = call;
        const response = await fetch(call.url, {
          method,
          headers: { ...headers, ...call.headers },
          body,
          signal,
        });
        if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
        const reader = response.body!.getReader();
        return reader.read();
      },
    };
  };

const through = (transport: ClientTransport, url: string): Ask => {
  return async (operation, params, signal) => {
    const call = { operation, params: { ...params } };
    const request = { url, headers, signal, maxBytes: 2 ** 20 };
    if (operation !== 'SendStreamingMessage' && operation !== 'SubscribeToTask')
      return transport.call(call, request);
    const events = transport.stream(call, request)[Symbol.asyncIterator]();
    return events.next();
  };
};

const grpc: Road = async (server) => {
  const listener = await listenGrpc(server, { port: 0, plaintext: true });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  return { ask: through(grpcClient(), `127.0.0.1:${listener.port}`) };
};

const webSocket: Road = async (server) => {
  const listener = createServer(nodeHandler(server));
  const endpoint = attachWebSocket(server, listener);
  onTestFinished(() => endpoint.close({ graceMs: 0 }));
  await listen(listener);
  const client = webSocketClient();
  onTestFinished(() => client.close());
  return { ask: through(client, endpoint.url!), leave: () => client.close() };
};

/** Every way to call an agent: each mount over JSON-RPC and HTTP+JSON, gRPC and WebSocket. */
export const roads: readonly (readonly [name: string, road: Road])[] = [
  ...httpRoads.flatMap(([name, mount]) => [
    [`JSON-RPC, ${name}`, overHttp(mount, jsonRpcClient)] as const,
    [`HTTP+JSON, ${name}`, overHttp(mount, httpJsonClient)] as const,
  ]),
  ['gRPC', grpc],
  ['WebSocket', webSocket],
];
