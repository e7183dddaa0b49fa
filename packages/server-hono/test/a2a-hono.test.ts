import { A2AError } from '@batonjs/protocol/errors';
import { type Logger, reply, taskAgent, working } from '@batonjs/server';
import { Hono, type MiddlewareHandler } from 'hono';
import { describe, expect, it, vi } from 'vitest';
import { abandon, exchange, type Sent } from '../../../test/kit/http/exchange.ts';
import { rpcBody, usual } from '../../../test/kit/http/known-tasks.ts';
import { listenerOf } from '../../../test/kit/http/mounts.ts';
import { expectRefusal } from '../../../test/kit/http/refusal.ts';
import { said } from '../../../test/kit/http/wrong-sends.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { a2aHono } from '../src/index.ts';

const logged: Parameters<Logger>[] = [];
const agent = (limits = {}) =>
  serve(({ text }) => reply(text), { limits, logger: (...entry) => logged.push(entry) });

/** An app on `node:http` with an echoing agent at `/agent` behind a middleware of the app. Resolves to its origin. */
const start = (middleware: MiddlewareHandler = (_c, next) => next(), limits = {}) =>
  listen(listenerOf(new Hono().use(middleware).route('/agent', a2aHono(agent(limits)))));

// biome-ignore format: a table reads best with one row per line
const bindings = [
  { binding: 'JSONRPC', path: '/agent', wrap: (params: object) => rpcBody('SendMessage', params) },
  { binding: 'HTTP+JSON', path: '/agent/message:send', wrap: (params: object) => JSON.stringify(params) },
] as const;

describe.each(bindings)('$binding', ({ binding, path, wrap }) => {
  const body = wrap({ message: said() });
  const post = (origin: string, sent: Sent = {}) =>
    exchange(origin, { method: 'POST', path, headers: usual, body, ...sent });

  it.each(['json', 'text', 'arrayBuffer', 'blob'] as const)(
    'takes a body that a middleware has read as %s, within the limit',
    async (read) => {
      const origin = await start(
        async (c, next) => {
          await c.req[read]();
          await next();
        },
        { bodyBytes: 1_000 },
      );
      const { status, json } = await post(origin);
      expect(status).toBe(200);
      expect(json.result ?? json).toHaveProperty('message.parts');
      const long = wrap({ message: said({ parts: [{ text: 'x'.repeat(1_000) }] }) });
      for (const chunked of [false, true]) {
        const refused = await post(origin, { body: long, chunked });
        expectRefusal(binding, refused, { reason: 'PAYLOAD_TOO_LARGE', id: null });
      }
    },
  );

  it('refuses a body that a middleware has read and lost', async () => {
    const origin = await start(async (c, next) => {
      await c.req.raw.arrayBuffer();
      await next();
    });
    expectRefusal(binding, await post(origin), { reason: 'PARSE_ERROR', id: null });
  });

  it('answers an A2AError of its middleware in the form of the binding', async () => {
    const limitRate: MiddlewareHandler = async () => {
      throw new A2AError('UNAUTHENTICATED', 'Say who you are');
    };
    const app = new Hono().route('/agent', a2aHono(agent(), { use: [limitRate] }));
    const refused = await post(await listen(listenerOf(app)));
    expectRefusal(binding, refused, { reason: 'UNAUTHENTICATED', id: null });
  });

  it('leaves other errors to the app', async () => {
    const handle = () => Promise.reject(new Error('broken'));
    const app = new Hono()
      .onError((error, c) => c.text(String(error), 418))
      .route('/agent', a2aHono({ handle }));
    const answer = await post(await listen(listenerOf(app)));
    expect(answer).toMatchObject({ status: 418, text: 'Error: broken' });
  });

  it('keeps the headers of a middleware around it', async () => {
    const origin = await start(async (c, next) => {
      await next();
      c.header('x-served-by', 'me');
    });
    expect((await post(origin)).headers).toMatchObject({ 'x-served-by': 'me' });
  });

  it('logs a client that leaves in the middle of a request, and not as an error', async () => {
    const origin = await start();
    logged.length = 0;
    await abandon(origin, path, body);
    await vi.waitFor(() => expect(logged).toHaveLength(1));
    expect(logged[0]!.slice(0, 2)).toEqual(['info', 'A client left before its request was complete']);
  });
});

describe('without Node.js in front of it', () => {
  const cardAt = async (host: string, trustHost?: boolean) => {
    const app = new Hono().route('/agents/:name', a2aHono(agent(), { trustHost }));
    const response = await app.request(`https://${host}/agents/echo/.well-known/agent-card.json`);
    return response.ok ? (await response.json()).supportedInterfaces[0].url : response.status;
  };

  it('has the address of a request in the card only if it names this machine, or the owner trusts it', async () => {
    expect(await cardAt('localhost:1234')).toBe('https://localhost:1234/agents/echo');
    expect(await cardAt('agents.example')).toBe(500);
    expect(await cardAt('agents.example', true)).toBe('https://agents.example/agents/echo');
  });

  it('streams, and lets go of a stream that is canceled', async () => {
    const gone = Promise.withResolvers<void>();
    const server = serve(
      taskAgent(async function* ({ signal }) {
        yield working();
        await untilAborted(signal);
      }),
    );
    const app = new Hono().route(
      '/agent',
      a2aHono({
        handle(asked) {
          asked.signal.addEventListener('abort', () => gone.resolve());
          return server.handle(asked);
        },
      }),
    );
    const body = JSON.stringify({ message: said() });
    const response = await app.request('/agent/message:stream', { method: 'POST', headers: usual, body });
    const reader = response.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('data:');
    await reader.cancel();
    await gone.promise;
  });
});
