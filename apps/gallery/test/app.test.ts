import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grpcClient } from '@batonjs/bindings-grpc';
import { webSocketClient } from '@batonjs/bindings-websocket';
import { connect } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { agents } from '../src/agents.ts';
import { createApp } from '../src/app.ts';
import { type Gallery, openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
let gallery: Gallery;
beforeAll(async () => {
  gallery = await openGallery(agents, readSettings({ PORT: '0', BATON_DATA: join(folder, 'not', 'there') }));
});
afterAll(async () => {
  await gallery.close();
  rmSync(folder, { recursive: true });
});

const get = (path: string, init?: RequestInit) => fetch(`${gallery.localUrl}${path}`, init);
const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: '100 USD' }] };

it('serves no page of another origin, and no name that leads to this machine', async () => {
  const origin = 'https://evil.example';
  const [first] = gallery.exhibits;
  const answer = await get(`/agents/${first.name}/tasks`, { headers: { ...headers, origin } });
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  for (const path of [`/agents/${first.name}/tasks`, '/task']) {
    const asked = request(`${gallery.localUrl}${path}`, { headers: { ...headers, host: 'evil.example' } });
    const [response] = await once(asked.end(), 'response');
    response.resume();
    expect([path, response.statusCode]).toEqual([path, 403]);
  }
  for (const path of [`/agents/${first.name}/ws`, '/task/updates']) {
    const asked = request(`${gallery.localUrl}${path}`, {
      headers: {
        host: 'evil.example',
        origin: 'http://evil.example',
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        'sec-websocket-protocol': 'a2a.v1',
      },
    });
    const [response] = await once(asked.end(), 'response');
    response.resume();
    expect([path, response.statusCode]).toEqual([path, 403]);
  }
});

describe('WebSocket', () => {
  it('serves every agent too, and its card says where', async () => {
    for (const { url, name } of gallery.exhibits) {
      const binding = webSocketClient();
      const agent = await connect(url, { bindings: [binding] });
      expect(agent.interface.url).toBe(`${gallery.localUrl.replace('http', 'ws')}/agents/${name}/ws`);
      expect(await agent.listTasks()).toMatchObject({ tasks: [] });
      binding.close();
    }
  });
});

describe('GRPC_PORT', () => {
  const data = join(folder, 'grpc');
  const settings = (env: object) => readSettings({ PORT: '0', BATON_DATA: data, ...env });

  it('serves every agent over gRPC too, and its card says where', async () => {
    const served = await openGallery(agents, settings({ GRPC_PORT: '0' }));
    try {
      for (const { url } of served.exhibits) {
        const agent = await connect(url, { bindings: [grpcClient()] });
        expect(agent.interface.protocolBinding).toBe('GRPC');
        expect(await agent.listTasks()).toMatchObject({ tasks: [] });
      }
    } finally {
      await served.close();
    }
  });

  it('that is taken stops the start with a sentence', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failure = openGallery(agents, settings({ GRPC_PORT: String(port) }));
    await expect(failure).rejects.toThrow(
      /^The ports from \d+ to \d+ of 127\.0\.0\.1 cannot be used for gRPC/,
    );
    other.close();
  });

  it('must be a port', () => {
    expect(() => settings({ GRPC_PORT: 'x' })).toThrow(
      'GRPC_PORT must be a whole number from 0 to 65535, not "x".',
    );
  });
});

describe('the gallery', () => {
  it('lists its agents, each with its card and a line to try it', async () => {
    const { agents: listed } = await (await get('/')).json();
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(agents.map(({ name }) => name));
    for (const { url, card, try: line } of listed) {
      expect((await fetch(card)).status).toBe(200);
      expect(line).toMatch(`curl -s ${url}/message:send`);
    }
  });

  it('shows a browser the same as a page', async () => {
    const page = await get('/', { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    const text = await page.text();
    for (const { name } of agents) expect(text).toContain(`/agents/${name}">`);
    expect(text).toContain('<a href="/inspector">Inspector</a>');
    expect(text).not.toMatch(/<pre>[^<]*"message"/);
  });

  it.each(['/agents/expense', '/agents/expense/'])('speaks JSON-RPC at %s', async (path) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendMessage', params: { message } });
    const reply = await (await get(path, { method: 'POST', headers, body })).json();
    expect(reply).toMatchObject({ id: 7, result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
  });

  it('speaks HTTP+JSON below that', async () => {
    const body = JSON.stringify({ message });
    const sent = await get('/agents/expense/message:send', { method: 'POST', headers, body });
    const { task } = await sent.json();
    expect(await (await get(`/agents/expense/tasks/${task.id}`, { headers })).json()).toEqual(task);
  });

  it("has the default agent's card at its origin", async () => {
    const paths = ['/.well-known/agent-card.json', '/agents/expense/.well-known/agent-card.json'];
    const [origin, own] = await Promise.all(paths.map(async (path) => (await get(path)).json()));
    expect(origin).toEqual(own);
    expect(origin.supportedInterfaces[0].url).toBe(`${gallery.localUrl}/agents/expense`);
  });

  it('is alive and ready', async () => {
    expect((await get('/healthz')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
  });

  it.each([
    ['GET', '/nothing', 404],
    ['GET', '/agents', 404],
    ['GET', '/agents/nobody', 404],
    ['POST', '/agents/expense/nothing', 404],
    ['POST', '/', 404],
    ['DELETE', '/healthz', 404],
    ['GET', '/agents/expense/%zz', 404],
    ['GET', '/%zz', 404],
    ['POST', '/.well-known/agent-card.json', 405],
  ])('answers %s %s with JSON and %i', async (method, path, status) => {
    const reply = await get(path, { method, headers });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('content-type')).toMatch(/json/);
    expect(await reply.json()).toHaveProperty('error');
  });
});

describe('readiness', () => {
  it('ends with the store', async () => {
    const store = sqliteStore(':memory:');
    const [{ name, ...options }] = agents;
    const server = createAgentServer({ ...options, name, store, logger: () => {} });
    const listener = createApp([{ name, url: 'http://127.0.0.1', server }]).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const readyz = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
    expect(await readyz()).toBe(200);
    await store.close();
    // The server asks its store once a second at most.
    await vi.waitFor(async () => expect(await readyz()).toBe(503), { timeout: 20_000 });
    await server.close();
    listener.close();
  });
});

describe('settings', () => {
  it('have defaults', () => {
    expect(readSettings({})).toEqual({ host: '127.0.0.1', port: 4000, store: 'sqlite:.data/tasks.db' });
  });

  it('name another public address', async () => {
    const env = { PORT: '0', BATON_DATA: join(folder, 'public'), PUBLIC_URL: 'https://agents.example.com/' };
    const elsewhere = await openGallery(agents, readSettings(env));
    const card = await (await fetch(`${elsewhere.localUrl}/.well-known/agent-card.json`)).json();
    expect(card.supportedInterfaces[0].url).toBe('https://agents.example.com/agents/expense');
    await elsewhere.close();
  });

  it.each([
    [{ PORT: 'x' }, /^PORT must be/],
    [{ PUBLIC_URL: 'agents.example.com' }, /^PUBLIC_URL must be/],
    [{ PUBLIC_URL: 'ftp://agents.example.com' }, /^PUBLIC_URL must be/],
  ])('that cannot be are refused: %j', (env, why) => {
    expect(() => readSettings(env)).toThrow(why);
  });
});
