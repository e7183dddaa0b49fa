import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientBinding, decodeSse, httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import type { Message, StreamResponse } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';
import { type Agent, type AgentServer, type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { afterEach, describe } from 'vitest';

/** Where a row of the checklist is tried: every binding, every skin, every store. */
export interface Setting {
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly skin: 'in process' | 'Express';
  readonly store: 'memory' | 'SQLite';
}

const settings = (['JSONRPC', 'HTTP+JSON'] as const).flatMap((binding) =>
  (['in process', 'Express'] as const).flatMap((skin) =>
    (['memory', 'SQLite'] as const).map((store): Setting => ({ binding, skin, store })),
  ),
);

/** One event of a stream with its position. */
export interface Seen {
  readonly id: string | undefined;
  readonly event: StreamResponse;
}

/** A client of one agent: what the checklist says, seen from outside. */
export interface Peer {
  readonly server: AgentServer;
  readonly binding: Setting['binding'];
  /** Where the agent is, without trailing slash. */
  readonly url: string;
  /** Resolves to the result; rejects with the `A2AError` of the wire. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results with matchers
  call(operation: OperationName, params: object, headers?: Record<string, string>): Promise<any>;
  /** Leaving the loop leaves the stream. */
  stream(operation: OperationName, params: object, headers?: Record<string, string>): AsyncGenerator<Seen>;
  /** Any request below the agent. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

/** Runs a block of tests in every setting; `serve` starts an agent there, and ends it after the test. */
export function everywhere(
  title: string,
  block: (serve: (agent: Agent, options?: Partial<AgentServerOptions>) => Promise<Peer>) => void,
): void {
  describe.each(settings)(`${title}: $binding, $skin, $store`, (setting) => {
    block((agent, options) => open(setting, agent, options));
  });
}

/** Runs a block of tests about the wire itself, which no store changes, on every skin. */
export function onEverySkin(
  title: string,
  block: (serve: (agent: Agent, options?: Partial<AgentServerOptions>) => Promise<Peer>) => void,
): void {
  describe.each(['in process', 'Express'] as const)(`${title}: %s`, (skin) => {
    block((agent, options) => open({ binding: 'JSONRPC', skin, store: 'memory' }, agent, options));
  });
}

/** Starts an agent in one setting. */
export async function open(
  { binding: name, skin, store: kind }: Setting,
  agent: Agent,
  options: Partial<AgentServerOptions> = {},
): Promise<Peer> {
  const store = options.store ?? (kind === 'memory' ? memoryStore() : sqliteStore(':memory:'));
  closing.push(() => store.close());
  const server = createAgentServer({
    card: { name: 'Row', description: 'For tests' },
    store,
    agent,
    log: () => {},
    ...options,
  });
  closing.push(() => server.close({ graceMs: 0 }));
  const url = skin === 'Express' ? await listen(server) : 'http://localhost';
  const send =
    skin === 'Express'
      ? fetch
      : (input: string, init?: RequestInit) => server.fetch(new Request(input, init));
  const binding: ClientBinding = name === 'JSONRPC' ? jsonRpcClient : httpJsonClient;

  const ask = (operation: OperationName, params: object, more: Record<string, string>) => {
    const call = { operation, params: params as Record<string, unknown> };
    const { url: target, method, headers, body } = binding.encodeCall(call, url);
    return send(target, { method, headers: { 'a2a-version': '1.0', ...headers, ...more }, body });
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
    fetch: (path, init) => send(`${url}${path}`, init),
  };
}

async function listen(server: AgentServer): Promise<string> {
  const http = createServer(express().use('/agent', a2aExpress(server)));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    http.closeAllConnections();
    return new Promise((resolve) => http.close(resolve));
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/agent`;
}

let ids = 0;

/** A message of a client. */
export const say = (content: string | Message['parts'], more: Partial<Message> = {}): Message => ({
  messageId: `m-${++ids}`,
  role: 'ROLE_USER',
  parts: typeof content === 'string' ? [{ text: content }] : content,
  ...more,
});

/** What a stream says, briefly: states, artifact texts, `task STATE` or `message`. */
export function brief(event: StreamResponse): string {
  if ('statusUpdate' in event) return event.statusUpdate.status.state.replace('TASK_STATE_', '');
  if ('artifactUpdate' in event) {
    const { artifact } = event.artifactUpdate;
    return `${artifact.artifactId}:${artifact.parts.map((part) => ('text' in part ? part.text : '…')).join('')}`;
  }
  return 'task' in event ? `task ${event.task.status.state.replace('TASK_STATE_', '')}` : 'message';
}

/** All that a stream says, briefly. */
export async function collect(events: AsyncIterable<Seen>): Promise<string[]> {
  const words: string[] = [];
  for await (const { event } of events) words.push(brief(event));
  return words;
}

/** A promise to be resolved from outside: lets a test decide when an agent goes on. */
export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}
