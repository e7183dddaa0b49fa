import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import { type AgentServer, createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';
import { createInspector, type Inspector } from '../src/inspector.ts';
import type { InspectorOptions } from '../src/options.ts';
import { pixel, showAgent } from './show-agent.ts';

export const token = 'a-token-for-the-tests';

/** A promise that is resolved from outside, a new one after each time. */
export class Gate {
  #open = Promise.withResolvers<void>();
  readonly wait = (): Promise<void> => this.#open.promise;
  release(): void {
    this.#open.resolve();
    this.#open = Promise.withResolvers();
  }
}

/** Agents and an inspector that shows them, as a program would serve them. */
export interface InspectedServers {
  readonly url: string;
  /** The address for a browser. */
  readonly address: string;
  readonly show: AgentServer;
  /** The same agent behind HTTP and gRPC, whose store the inspector does not have. */
  readonly far: AgentServer;
  readonly gate: Gate;
  readonly inspector: Inspector;
  /** How often the picture at `/picture.png` was asked for, and whether the webhook at `/hook` answers. */
  readonly outside: { pictures: number; isHookUp: boolean };
  /** Breaks the connections of everyone who follows a task of the far agent. */
  cutFar(): void;
  close(): Promise<void>;
}

/** Serves the agents `show` (with its store), `far` (by its address) and `old` (A2A 0.3, without streams). */
export async function serveInspected(
  appFolder: string,
  options: Omit<InspectorOptions, 'agents'> = {},
): Promise<InspectedServers> {
  const gate = new Gate();
  const agentServer = (name: string, more: Partial<Parameters<typeof createAgentServer>[0]> = {}) => {
    const { card, agent } = showAgent(gate.wait);
    return createAgentServer({
      name,
      agent,
      card: { ...card, name: card.name + (name === 'show' ? '' : ` ${name}`) },
      store: memoryStore(),
      logger: () => {},
      push: { allow: ['127.0.0.1:*'], retry: { maxAttempts: 2, baseDelayMs: 1 } },
      ...more,
    });
  };
  const app = express();
  const http = createServer(app).listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const show = agentServer('show', { publicUrl: `${url}/show`, callbacks: true });
  const far = agentServer('far', { publicUrl: `${url}/far` });
  const old = agentServer('old', {
    publicUrl: `${url}/old`,
    compatibility: [v03()],
    card: {
      name: 'Old',
      description: 'Speaks A2A 0.3',
      capabilities: { streaming: false },
      supportedInterfaces: [{ url: `${url}/old`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
    },
  });
  const grpc = await listenGrpc(far, { host: '127.0.0.1', port: 0, plaintext: true });
  const streams = new Set<ServerResponse>();
  const outside = { pictures: 0, isHookUp: false };
  app.get('/picture.png', (_request, response) => {
    outside.pictures += 1;
    response.type('image/png').send(pixel);
  });
  app.post('/hook', (_request, response) => void response.status(outside.isHookUp ? 204 : 500).end());
  app.use('/show', a2aExpress(show));
  app.use('/far', (request, response, next) => {
    if (request.headers.accept?.includes('event-stream')) {
      streams.add(response);
      response.on('close', () => streams.delete(response));
    }
    next();
  });
  app.use('/far', a2aExpress(far));
  app.use('/old', a2aExpress(old));
  const inspector = createInspector(
    {
      token,
      ...options,
      agents: [{ server: show }, { name: 'far', url: `${url}/far` }, { name: 'old', url: `${url}/old` }],
    },
    appFolder,
  );
  app.use('/inspector', inspector);
  return {
    url,
    address: inspector.addressAt(`${url}/inspector`),
    show,
    far,
    gate,
    inspector,
    outside,
    cutFar() {
      for (const response of streams) response.socket?.destroy();
    },
    async close() {
      inspector.close();
      await Promise.all([show, far, old].map((server) => server.close({ graceMs: 0 })));
      await grpc.close({ graceMs: 0 });
      await closed(http);
    },
  };
}

/** Ends a server with its connections. */
export async function closed(http: Server): Promise<void> {
  const ended = once(http, 'close');
  http.close();
  http.closeAllConnections();
  await ended;
}
