import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  encodeSse,
  httpJsonServer,
  jsonBody,
  jsonRpcServer,
  type ReceivedCall,
  type ServerBinding,
  SharedJson,
  sseHeaders,
} from '@batonjs/bindings';
import type { AgentCard } from '@batonjs/protocol';
import { onTestFinished } from 'vitest';

/** Answers a request. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => unknown;

/** A server on a free port until the test ends. */
export async function serve(
  answer: Answer,
  port = 0,
): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    await answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => stop(server));
  const { port: actual } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${actual}`, port: actual, server };
}

/** Stops listening and drops every connection. A server that has stopped stays as it is. */
export async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** A port without a server. */
export async function freePort(): Promise<number> {
  const { server, port } = await serve(() => {});
  await stop(server);
  return port;
}

/** A card whose interfaces are the ones given. */
export const cardOf = (
  supportedInterfaces: AgentCard['supportedInterfaces'],
  more: Partial<AgentCard> = {},
): AgentCard => ({
  name: 'Peer',
  description: 'Answers as a test wants',
  version: '1.0.0',
  supportedInterfaces,
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  ...more,
});

/** A call that a peer received, with the ways to answer it. */
export interface Exchange {
  readonly call: ReceivedCall;
  readonly headers: IncomingMessage['headers'];
  readonly response: ServerResponse;
  result(result: unknown): void;
  error(error: Parameters<ServerBinding['encodeError']>[0]): void;
  /** Starts a stream, or adds an event to it. */
  event(event: unknown, id?: string): void;
  end(): void;
  /** Breaks the connection in the middle of the answer. */
  destroy(): void;
}

type Events = readonly (readonly [event: unknown, position?: string])[];

/** An answer that is a stream of these events, which stays open. */
export const stays =
  (...events: Events) =>
  ({ event }: Exchange): void => {
    for (const each of events) event(...each);
  };

/** An answer that is a stream of these events, which ends. */
export const ends =
  (...events: Events) =>
  (exchange: Exchange): void => {
    stays(...events)(exchange);
    exchange.end();
  };

/** An answer that is a stream of these events, whose connection breaks. */
export const breaks =
  (...events: Events) =>
  (exchange: Exchange): void => {
    stays(...events)(exchange);
    exchange.response.write(': bye\n\n', exchange.destroy);
  };

/** A server that speaks both bindings and leaves the answers to the test. Its card is at the well-known path. */
export async function peer(
  answer: (exchange: Exchange) => unknown,
  { port = 0, card }: { port?: number; card?: (url: string) => AgentCard } = {},
) {
  const calls: ReceivedCall[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const served = await serve((request, response, body) => {
    const url = `http://127.0.0.1:${served.port}`;
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    if (pathname.endsWith('/agent-card.json')) {
      const found = card?.(url) ?? bothBindings(url);
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(found));
    }
    const received = {
      method: request.method ?? 'GET',
      path: pathname,
      query: searchParams,
      headers: request.headers as Record<string, string>,
      body: jsonBody({ text: body }),
    };
    const binding = [jsonRpcServer, httpJsonServer].find((candidate) => candidate.matches(received))!;
    const call = binding.decodeCall(received);
    calls.push(call);
    headers.push(request.headers);
    const reply = ({ status, headers: own, body: text }: ReturnType<ServerBinding['encodeResult']>) =>
      response.writeHead(status, own).end(text as string);
    return answer({
      call,
      headers: request.headers,
      response,
      result: (result) => reply(binding.encodeResult(call, result)),
      error: (error) => {
        if (!response.headersSent) reply(binding.encodeError(error, received));
        else response.end(encodeSse({ data: binding.encodeStream(call).error(error) }));
      },
      event(event, id) {
        if (!response.headersSent) response.writeHead(200, sseHeaders);
        response.write(encodeSse({ data: binding.encodeStream(call).event(new SharedJson(event)), id }));
      },
      end() {
        if (!response.headersSent) response.writeHead(200, sseHeaders);
        response.end();
      },
      destroy: () => response.socket?.destroy(),
    });
  }, port);
  return { ...served, calls, headers };
}

/** A card with one interface for each binding. */
export const bothBindings = (url: string, more: Partial<AgentCard> = {}): AgentCard =>
  cardOf(
    ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({ url, protocolBinding, protocolVersion: '1.0' })),
    more,
  );

/** The error of a promise that rejects. */
export async function failureOf(
  promise: PromiseLike<unknown>,
): Promise<{ code?: string; reason?: string } & Error> {
  try {
    await promise;
  } catch (error) {
    return error as { code?: string; reason?: string } & Error;
  }
  throw new Error('It did not fail');
}

/** All items of an iterable. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A task in a state, as it is on the wire. */
export const taskIn = (state: string, more: object = {}) => ({
  id: 't-1',
  contextId: 'c-1',
  status: { state: `TASK_STATE_${state}` },
  ...more,
});

/** A change of a task's status, as it is on the wire. */
export const statusOf = (state: string, more: object = {}) => ({
  statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: `TASK_STATE_${state}`, ...more } },
});

/** A chunk of the artifact `a-1`, as it is on the wire. */
export const chunk = (text: string, append = true) => ({
  artifactUpdate: {
    taskId: 't-1',
    contextId: 'c-1',
    artifact: { artifactId: 'a-1', parts: [{ text }] },
    append,
  },
});

/** A clock whose pauses end at once. It records them. Deadlines are pauses too: turn them off. */
export function virtualClock() {
  const pauses: number[] = [];
  let now = 0;
  const sleep = async (ms: number) => {
    pauses.push(ms);
    now += ms;
  };
  return { pauses, clock: { now: () => now, random: () => 0.5, sleep } };
}
