import { type ClientBinding, decodeSse, httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import type { StreamResponse } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';
import type { Agent, AgentServer, AgentServerOptions } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { describe } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { listen } from '../kit/listen.ts';
import type { Seen } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';

/** Where a row of docs/conformance.md is tested: each binding, adapter and store. */
export interface Setting {
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  readonly adapter: 'in process' | 'Express';
  readonly store: 'memory' | 'SQLite';
}

const settings = (['JSONRPC', 'HTTP+JSON'] as const).flatMap((binding) =>
  (['in process', 'Express'] as const).flatMap((adapter) =>
    (['memory', 'SQLite'] as const).map((store): Setting => ({ binding, adapter, store })),
  ),
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

/** Runs a block of tests in every setting. `serve` starts an agent there, and closes it when the test ends. */
export function everywhere(
  title: string,
  block: (serve: (agent: Agent, options?: Partial<AgentServerOptions>) => Promise<Peer>) => void,
): void {
  describe.each(settings)(`${title}: $binding, $adapter, $store`, (setting) => {
    block((agent, options) => open(setting, agent, options));
  });
}

/** Runs a block of tests about the wire on every adapter. The store makes no difference to them. */
export function onEveryAdapter(
  title: string,
  block: (serve: (agent: Agent, options?: Partial<AgentServerOptions>) => Promise<Peer>) => void,
): void {
  describe.each(['in process', 'Express'] as const)(`${title}: %s`, (adapter) => {
    block((agent, options) => open({ binding: 'JSONRPC', adapter, store: 'memory' }, agent, options));
  });
}

/** Starts an agent in one setting. */
export async function open(
  { binding: name, adapter, store: kind }: Setting,
  agent: Agent,
  options: Partial<AgentServerOptions> = {},
): Promise<Peer> {
  const store = options.store ?? (kind === 'memory' ? memoryStore() : sqliteStore(':memory:'));
  closedAfterTest(store);
  const server = serve(agent, { card: { name: 'Row', description: 'For tests' }, store, ...options });
  const url =
    adapter === 'Express'
      ? `${await listen(express().use('/agent', a2aExpress(server)))}/agent`
      : 'http://localhost';
  const send =
    adapter === 'Express'
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

/** A promise to be resolved from outside: lets a test decide when an agent goes on. */
export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, opened: promise };
}
