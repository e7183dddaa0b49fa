import { connect as openSocket } from 'node:net';
import { connect, textOf } from '@batonjs/client';
import type { AgentServer } from '@batonjs/server';
import { expect, it } from 'vitest';
import { exchange, type Sent } from '../kit/http/exchange.ts';
import { rpcBody, usual } from '../kit/http/known-tasks.ts';
import { expectRefusal } from '../kit/http/refusal.ts';
import { said } from '../kit/http/wrong-sends.ts';
import { path } from './echo.ts';

/** The agent of `echo.ts`, served by a framework. */
export interface Served {
  /** Where the framework listens. The agent is at `path` there. */
  readonly origin: string;
  /** What the server has in memory. */
  load(): Promise<AgentServer['load']>;
}

const card = `${path}/.well-known/agent-card.json`;
const limit = 4 * 1024 * 1024;

/** Tests that the agent behaves on a framework as it does on `node:http`. `serve` is called by each of them. */
export function checkRecipe(serve: () => Promise<Served>): void {
  const post = (origin: string, below: string, sent: Sent) =>
    exchange(origin, { method: 'POST', path: `${path}${below}`, headers: usual, ...sent });

  it('has the agent below its path over both bindings, and nothing of it elsewhere', async () => {
    const { origin } = await serve();
    for (const binding of ['JSONRPC', 'HTTP+JSON']) {
      const agent = await connect(`${origin}${path}`, { binding });
      expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
    }
    for (const other of ['/agents/echoes', '/agents', '/.well-known/agent-card.json']) {
      const { text } = await exchange(origin, { path: other });
      expect(text).not.toContain('Says it again');
    }
  });

  it('has its public address in the card, whatever the sender says of hosts and proxies', async () => {
    const { origin } = await serve();
    const headers = {
      'x-forwarded-host': 'elsewhere.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '192.0.2.1',
    };
    const { status, json } = await exchange(origin, { path: card, headers });
    expect([status, json.supportedInterfaces[0].url]).toEqual([200, `${origin}${path}`]);
  });

  it('refuses a page whose name leads to this machine', async () => {
    const { origin } = await serve();
    const body = rpcBody('SendMessage', { message: said() });
    const ask = async (host: string) =>
      (await post(origin, '', { headers: { ...usual, host }, body })).status;
    expect(await ask('evil.example')).toBe(403);
    expect(await ask(new URL(origin).host)).toBe(200);
  });

  it('sends a stream while the turn runs', async () => {
    const { origin } = await serve();
    const agent = await connect(`${origin}${path}`);
    const message = { ...said({ parts: [{ text: 'wait' }] }), role: 'ROLE_USER' } as const;
    const told: string[] = [];
    for await (const event of agent.sendStreamingMessage({ message })) {
      // The first event is the task as it is by then.
      const now = 'task' in event ? event.task : 'statusUpdate' in event ? event.statusUpdate : undefined;
      const text = textOf(now?.status.message);
      if (text && told.push(text) === 1) await agent.send('go');
    }
    expect(told).toEqual(['On it', 'Done']);
  });

  it('lets a stream go when its reader leaves', async () => {
    const { origin, load } = await serve();
    await expect.poll(load).toEqual({ turns: 0, tasks: 0 });
    const body = JSON.stringify({ message: said({ parts: [{ text: 'ask' }] }) });
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
    await expect.poll(load).toEqual({ turns: 0, tasks: 1 });
    socket.destroy();
    await expect.poll(load).toEqual({ turns: 0, tasks: 0 });
  });

  it.each([
    ['with its length', false],
    ['in chunks', true],
  ])(
    'takes a body of 2 MB %s, and refuses one beyond the limit in the form of the binding',
    async (_, chunked) => {
      const { origin } = await serve();
      const message = (bytes: number) => said({ parts: [{ text: 'x'.repeat(bytes) }] });
      const body = JSON.stringify({ message: message(2_000_000) });
      expect((await post(origin, '/message:send', { body, chunked })).status).toBe(200);
      const large = rpcBody('SendMessage', { message: message(limit) });
      const refused = await post(origin, '', { body: large, chunked });
      expectRefusal('JSONRPC', refused, { reason: 'PAYLOAD_TOO_LARGE', id: null });
    },
  );

  it('answers a body that is broken, and a path where nothing is, in the form of the binding', async () => {
    const { origin } = await serve();
    const broken = await post(origin, '/message:send', { body: '{' });
    expectRefusal('HTTP+JSON', broken, { reason: 'PARSE_ERROR' });
    const nothing = await post(origin, '/none', { body: '{}' });
    expectRefusal('HTTP+JSON', nothing, { reason: 'METHOD_NOT_FOUND' });
  });

  it('lets pages of other origins call the agent, if it does', async () => {
    const { origin } = await serve();
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
}
