import { createServer, type RequestListener } from 'node:http';
import { connect as openSocket } from 'node:net';
import { connect, textOf } from '@batonjs/client';
import { type Agent, completed, createAgentServer, inputRequired, reply, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { exchange, type Sent } from '../kit/http/exchange.ts';
import { rpcBody, usual } from '../kit/http/known-tasks.ts';
import { expectRefusal } from '../kit/http/refusal.ts';
import { said } from '../kit/http/wrong-sends.ts';
import { listen } from '../kit/listen.ts';
import { path, recipes } from './recipes.ts';

const echo: Agent = ({ text }) => reply(text);
const card = `${path}/.well-known/agent-card.json`;
const limit = 4 * 1024 * 1024;

describe.each(recipes)('%s', (_name, recipe) => {
  /** Serves an agent; its cards have the address at which it is served. */
  async function serve(agent: Agent, options: object = {}) {
    let listener: RequestListener = () => {};
    const origin = await listen(createServer((request, response) => listener(request, response)));
    const server = closedAfterTest(
      createAgentServer({
        card: { name: 'Echo', description: 'Says it again' },
        agent,
        store: memoryStore(),
        log: () => {},
        publicUrl: `${origin}${path}`,
        ...options,
      }),
    );
    listener = await recipe(server);
    return { origin, server, url: `${origin}${path}` };
  }
  const post = (origin: string, below: string, sent: Sent) =>
    exchange(origin, { method: 'POST', path: `${path}${below}`, headers: usual, ...sent });

  it('has the agent below its path over both bindings, and nothing of it elsewhere', async () => {
    const { origin, url } = await serve(echo);
    for (const binding of ['JSONRPC', 'HTTP+JSON']) {
      const agent = await connect(url, { binding });
      expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
    }
    for (const other of ['/agents/echoes', '/agents', '/.well-known/agent-card.json']) {
      const { text } = await exchange(origin, { path: other });
      expect(text).not.toContain('Says it again');
    }
  });

  it('has its public address in the card, whatever the sender says of hosts and proxies', async () => {
    const { origin, url } = await serve(echo);
    const headers = {
      host: 'elsewhere.example',
      'x-forwarded-host': 'elsewhere.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '192.0.2.1',
    };
    const { status, json } = await exchange(origin, { path: card, headers });
    expect([status, json.supportedInterfaces[0].url]).toEqual([200, url]);
  });

  it('sends a stream while the turn runs', async () => {
    const seen = Promise.withResolvers<void>();
    const { url } = await serve(async function* () {
      yield working('On it');
      await seen.promise;
      yield completed('Done');
    });
    const agent = await connect(url);
    const told: string[] = [];
    for await (const event of agent.sendStreamingMessage({ message: { ...said(), role: 'ROLE_USER' } })) {
      if (!('statusUpdate' in event)) continue;
      told.push(textOf(event.statusUpdate?.status.message));
      seen.resolve();
    }
    expect(told).toEqual(['On it', 'Done']);
  });

  it('lets a stream go when its reader leaves', async () => {
    const ask: Agent = async function* () {
      yield inputRequired('Well?');
    };
    const { origin, server } = await serve(ask, { closeStreamsOnInputRequired: false });
    const body = JSON.stringify({ message: said() });
    const socket = openSocket(Number(new URL(origin).port), '127.0.0.1');
    const headers = Object.entries({ ...usual, host: 'localhost', 'content-length': `${body.length}` });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`POST ${path}/message:stream HTTP/1.1\r\n${lines}\r\n${body}`);
    let text = '';
    await new Promise<void>((resolve) =>
      socket.on('data', (piece) => {
        text += piece;
        if (text.includes('INPUT_REQUIRED')) resolve();
      }),
    );
    // The task waits for an answer: only the stream holds it in memory.
    expect(server.load).toEqual({ turns: 0, tasks: 1 });
    socket.destroy();
    await vi.waitFor(() => expect(server.load.tasks).toBe(0));
  });

  it.each([
    ['with its length', false],
    ['in chunks', true],
  ])(
    'takes a body of 2 MB %s, and refuses one beyond the limit in the form of the binding',
    async (_, chunked) => {
      const { origin } = await serve(echo);
      const message = (bytes: number) => said({ parts: [{ text: 'x'.repeat(bytes) }] });
      const body = JSON.stringify({ message: message(2_000_000) });
      expect((await post(origin, '/message:send', { body, chunked })).status).toBe(200);
      const large = rpcBody('SendMessage', { message: message(limit) });
      const refused = await post(origin, '', { body: large, chunked });
      expectRefusal('JSONRPC', refused, { reason: 'PAYLOAD_TOO_LARGE', id: null });
    },
  );

  it('answers a body that is broken, and a path where nothing is, in the form of the binding', async () => {
    const { origin } = await serve(echo);
    const broken = await post(origin, '/message:send', { body: '{' });
    expectRefusal('HTTP+JSON', broken, { reason: 'PARSE_ERROR' });
    const nothing = await post(origin, '/none', { body: '{}' });
    expectRefusal('HTTP+JSON', nothing, { reason: 'METHOD_NOT_FOUND' });
  });

  it('lets pages of other origins call the agent, if it does', async () => {
    const { origin } = await serve(echo, { cors: true });
    const headers = {
      origin: 'https://page.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,a2a-version',
    };
    const asked = await exchange(origin, { method: 'OPTIONS', path, headers });
    expect(asked.headers['access-control-allow-origin']).toBe('*');
    const body = rpcBody('SendMessage', { message: said() });
    const answered = await post(origin, '', { headers: { ...usual, origin: 'https://page.example' }, body });
    expect(answered.status).toBe(200);
    expect(answered.headers['access-control-allow-origin']).toBe('*');
  });
});
