import { connect as openSocket } from 'node:net';
import { connect, textOf } from '@batonjs/client';
import { describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../../../test/kit/http/exchange.ts';
import { rpcBody, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { mounts, type Place } from '../../../../../test/kit/http/mounts.ts';
import { said } from '../../../../../test/kit/http/wrong-sends.ts';
import { listen } from '../../../../../test/kit/listen.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { untilAborted } from '../../../../../test/kit/until-aborted.ts';
import { type AgentServer, reply, taskAgent, working } from '../../../src/index.ts';

const cardPath = '/.well-known/agent-card.json';
const echo = () => serve(({ text }) => reply(text));
// biome-ignore lint/suspicious/noExplicitAny: the card as it was sent
const urlIn = (card: any): string => card.supportedInterfaces[0].url;

describe.each(mounts)('%s', (name, mount) => {
  const start = async (server: Pick<AgentServer, 'handle'>, place?: Place) =>
    listen(await mount(server, place));

  /** Sends a request over a connection that the test can break. */
  const open = (origin: string, path: string, body = '') => {
    const socket = openSocket(Number(new URL(origin).port), '127.0.0.1');
    const headers = Object.entries({ ...usual, host: 'localhost', 'content-length': `${body.length}` });
    const lines = headers.map(([header, value]) => `${header}: ${value}\r\n`);
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    return socket;
  };

  describe('the path of the mount', () => {
    const paths: readonly (readonly [path: string, mounted: string])[] = [
      ['/agents/echo', '/agents/echo'],
      // Paths of nodeHandler have no parameters.
      ...(name === 'node:http' ? [] : [['/agents/:name', '/agents/echo'] as const]),
      ['/', ''],
    ];
    it.each(paths)('%s has the agent below it', async (path, mounted) => {
      const origin = await start(echo(), { path });
      const { json } = await exchange(origin, { path: `${mounted}${cardPath}?a2a-version=1.0` });
      expect(urlIn(json)).toBe(`${origin}${mounted}`);
      for (const binding of ['JSONRPC', 'HTTP+JSON']) {
        const agent = await connect(`${origin}${mounted}`, { binding });
        expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
      }
      const body = rpcBody('SendMessage', { message: said() });
      const slash = await exchange(origin, { method: 'POST', path: `${mounted}/`, headers: usual, body });
      expect(slash.json).toHaveProperty('result.message');
    });

    it('has nothing of the agent beside it', async () => {
      const origin = await start(echo(), { path: '/agents/echo' });
      for (const path of ['/', cardPath, '/agents', `/agents${cardPath}`, `/agents/echoes${cardPath}`])
        expect((await exchange(origin, { path, headers: usual })).status).toBe(404);
    });
  });

  describe('the address of the sender', () => {
    const forwarded = { ...usual, 'x-forwarded-for': '192.0.2.7' };
    const seenFrom = async (trusted: boolean) => {
      const seen: (string | undefined)[] = [];
      const callerOf = ({ remoteAddress }: { remoteAddress?: string | undefined }) =>
        void seen.push(remoteAddress);
      const callers = { requests: { limit: 1, perMs: 1 }, callerOf };
      const server = serve(({ text }) => reply(text), { limits: { callers } });
      const body = rpcBody('ListTasks', {});
      const origin = await start(server, { trusted });
      expect(
        (await exchange(origin, { method: 'POST', path: '/agent', headers: forwarded, body })).status,
      ).toBe(200);
      return seen;
    };

    it('is that of the connection, and not what a client says', async () => {
      expect(await seenFrom(false)).toEqual(['127.0.0.1']);
    });

    it('is what a trusted proxy says where the framework reads it', async () => {
      const reads = name === 'Express' || name === 'Fastify';
      expect(await seenFrom(true)).toEqual([reads ? '192.0.2.7' : '127.0.0.1']);
    });
  });

  describe('the address in the card', () => {
    const ask = async (place: Place, headers: Record<string, string>) =>
      exchange(await start(echo(), place), { path: `/agent${cardPath}`, headers });
    const forwarded = { 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-for': '10.0.0.1' };

    it('is not what a client chose', async () => {
      const headers = { ...forwarded, host: 'agents.example', 'x-forwarded-proto': 'https' };
      const { status, text } = await ask({}, headers);
      expect([status, text.includes('.example')]).toEqual([403, false]);
    });

    it('is that of the request on this machine, not of what a proxy would say', async () => {
      const { json } = await ask({}, { ...forwarded, host: 'localhost:8080', 'x-forwarded-proto': 'https' });
      expect(urlIn(json)).toBe('http://localhost:8080/agent');
    });

    it('has the Host of a proxy that the owner trusts, never its X-Forwarded-Host', async () => {
      const { json } = await ask({ trusted: true }, { ...forwarded, host: 'agents.example:8080' });
      expect(urlIn(json)).toBe('http://agents.example:8080/agent');
    });

    it.each([
      [true, 'https', 'https'],
      [true, ' HTTPS, http', 'https'],
      [true, 'javascript', 'http'],
      [false, 'https', 'http'],
    ])('trusted: %s, it has of the X-Forwarded-Proto "%s" the scheme %s', async (trusted, proto, scheme) => {
      const host = trusted ? 'agents.example' : 'localhost';
      const { json } = await ask({ trusted }, { host, 'x-forwarded-proto': proto });
      // Express and Fastify have rules of their own for other values.
      if (proto === 'https' || name === 'node:http' || name === 'Hono')
        expect(urlIn(json)).toBe(`${scheme}://${host}/agent`);
    });
  });

  describe('a stream', () => {
    it('is sent while the turn runs', async () => {
      const { promise: seen, resolve: see } = Promise.withResolvers<void>();
      const server = serve(
        taskAgent(async function* () {
          yield working('On it');
          await seen;
          yield working('Done soon');
        }),
      );
      const agent = await connect(`${await start(server)}/agent`);
      const told: string[] = [];
      for await (const event of agent.sendStreamingMessage({ message: { ...said(), role: 'ROLE_USER' } })) {
        if (!('statusUpdate' in event)) continue;
        told.push(textOf(event.statusUpdate?.status.message));
        if (told.length === 1) see();
      }
      expect(told.slice(0, 2)).toEqual(['On it', 'Done soon']);
    });

    it.each([
      ['JSONRPC', '', rpcBody('SendStreamingMessage', { message: said() })],
      ['HTTP+JSON', '/message:stream', JSON.stringify({ message: said() })],
    ])('over %s is let go when its reader leaves', async (_binding, path, body) => {
      const server = serve(
        taskAgent(async function* ({ signal }) {
          yield working();
          await untilAborted(signal);
        }),
      );
      let reading = 0;
      const origin = await start({
        handle(asked) {
          reading++;
          asked.signal.addEventListener('abort', () => reading--);
          return server.handle(asked);
        },
      });
      const socket = open(origin, `/agent${path}`, body);
      await new Promise((resolve) => socket.once('data', resolve));
      expect(reading).toBe(1);
      socket.destroy();
      await vi.waitFor(() => expect(reading).toBe(0));
    });

    it('is let go if its reader leaves before it begins', async () => {
      const asked = Promise.withResolvers<void>();
      const letGo = vi.fn(async () => ({ done: true as const, value: undefined }));
      const endless = { next: () => new Promise<never>(() => {}), return: letGo };
      const origin = await start({
        async handle({ signal }) {
          asked.resolve();
          await untilAborted(signal);
          return { status: 200, headers: {}, body: { [Symbol.asyncIterator]: () => endless } };
        },
      });
      const socket = open(origin, '/agent/message:stream');
      await asked.promise;
      socket.destroy();
      await vi.waitFor(() => expect(letGo).toHaveBeenCalledOnce());
    });

    it('is let go if its reader leaves while there is nothing to send', async () => {
      const letGo = vi.fn(async () => ({ done: true as const, value: undefined }));
      const first = { done: false as const, value: 'data: 1\n\n' };
      const next = vi.fn(() => new Promise<never>(() => {})).mockResolvedValueOnce(first as never);
      const body = { [Symbol.asyncIterator]: () => ({ next, return: letGo }) };
      const headers = { 'content-type': 'text/event-stream' };
      const origin = await start({ handle: async () => ({ status: 200, headers, body }) });
      const socket = open(origin, '/agent/message:stream');
      await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
      await vi.waitFor(() => expect(letGo).toHaveBeenCalledOnce());
    });
  });

  it('answers HEAD without a body', async () => {
    const { status, text } = await exchange(await start(echo()), {
      method: 'HEAD',
      path: `/agent${cardPath}`,
      headers: { host: 'localhost' },
    });
    expect([status, text]).toEqual([200, '']);
  });
});
