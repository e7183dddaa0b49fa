import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attachWebSocket, webSocketClient } from '@batonjs/bindings-websocket';
import { connect, textOf } from '@batonjs/client';
import { type AgentServer, reply } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { a2aFastify } from '@batonjs/server-fastify';
import { a2aHono } from '@batonjs/server-hono';
import { serve as serveHono } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { serve } from '../kit/serve.ts';

/** How each framework gives its server of `node:http`, with the agent at `/agent`. */
const frameworks: Readonly<Record<string, (server: AgentServer) => Promise<Server>>> = {
  Express: async (server) => express().use('/agent', a2aExpress(server)).listen(0, '127.0.0.1'),
  async Fastify(server) {
    const app = fastify().register(a2aFastify(server), { prefix: '/agent' });
    await app.listen({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => app.close());
    return app.server;
  },
  async Hono(server) {
    const app = new Hono().route('/agent', a2aHono(server));
    const overrideGlobalObjects = false;
    return serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects }) as Server;
  },
};

describe.each(Object.entries(frameworks))('the server of %s', (_, start) => {
  it('serves WebSockets beside the requests of the app', async () => {
    const server = serve(({ text }) => reply(text));
    const listener = await start(server);
    if (!listener.listening) await once(listener, 'listening');
    onTestFinished(() => listener.close().closeAllConnections());
    const endpoint = closedAfterTest(attachWebSocket(server, listener, { path: '/agent/ws' }));
    const { port } = listener.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/agent`;
    const binding = webSocketClient();
    onTestFinished(() => binding.close());
    const overSocket = await connect(url, { bindings: [binding] });
    expect(overSocket.interface.url).toBe(endpoint.url);
    for (const agent of [overSocket, await connect(url)])
      expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
    expect(endpoint.connections).toBe(1);
  });
});
