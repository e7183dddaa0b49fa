import { createGunzip, gzipSync } from 'node:zlib';
import { A2AError } from '@batonjs/protocol/errors';
import { type Logger, reply } from '@batonjs/server';
import { type FastifyInstance, fastify } from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { abandon, exchange, type Sent } from '../../../test/kit/http/exchange.ts';
import { rpcBody, usual } from '../../../test/kit/http/known-tasks.ts';
import { expectRefusal } from '../../../test/kit/http/refusal.ts';
import { said } from '../../../test/kit/http/wrong-sends.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { a2aFastify } from '../src/index.ts';

const logged: Parameters<Logger>[] = [];
const agent = () => serve(({ text }) => reply(text), { logger: (...entry) => logged.push(entry) });

/** An app with an echoing agent at `/agent`. Resolves to its origin. */
async function start(prepare: (app: FastifyInstance) => void = () => {}, options = {}): Promise<string> {
  const app = fastify(options);
  prepare(app);
  app.register(a2aFastify(agent()), { prefix: '/agent' });
  await app.ready();
  return listen(app.routing);
}

// biome-ignore format: a table reads best with one row per line
const bindings = [
  { binding: 'JSONRPC', path: '/agent', wrap: (params: object) => rpcBody('SendMessage', params) },
  { binding: 'HTTP+JSON', path: '/agent/message:send', wrap: (params: object) => JSON.stringify(params) },
] as const;

describe.each(bindings)('$binding', ({ binding, path, wrap }) => {
  const body = wrap({ message: said() });
  const post = (origin: string, sent: Sent = {}) =>
    exchange(origin, { method: 'POST', path, headers: usual, body, ...sent });

  it('reads bodies itself: neither the parsers of the app nor its limit apply', async () => {
    const parse = vi.fn();
    const origin = await start(
      (app) => void app.addContentTypeParser('application/json', { parseAs: 'string' }, parse),
      { bodyLimit: 10 },
    );
    const { status, json } = await post(origin);
    expect([status, parse.mock.calls.length]).toEqual([200, 0]);
    expect(json.result ?? json).toHaveProperty('message.parts');
  });

  it('leaves the parsers of the app to its other routes', async () => {
    const origin = await start((app) => void app.post('/other', async (request) => request.body));
    const { json } = await post(origin, { path: '/other', body: '{"a":1}' });
    expect(json).toEqual({ a: 1 });
  });

  it('takes the stream that a preParsing hook makes of a body', async () => {
    const origin = await start((app) =>
      app.addHook('preParsing', async (_request, _reply, payload) => payload.pipe(createGunzip())),
    );
    const headers = { ...usual, 'content-encoding': 'gzip' };
    const { status, json } = await post(origin, { headers, body: gzipSync(body) });
    expect(status).toBe(200);
    expect(json.result ?? json).toHaveProperty('message.parts');
    const reply = await post(origin, { headers, body: 'not gzip' });
    expectRefusal(binding, reply, { reason: 'PARSE_ERROR', id: null });
  });

  it('takes a body that was parsed before Fastify, as `@fastify/express` does', async () => {
    const parse = (app: FastifyInstance) =>
      app.addHook('onRequest', async ({ raw }) => {
        let text = '';
        for await (const chunk of raw) text += chunk;
        Object.assign(raw, { body: JSON.parse(text) });
      });
    const { status, json } = await post(await start(parse));
    expect(status).toBe(200);
    expect(json.result ?? json).toHaveProperty('message.parts');
  });

  it.each(['onRequest', 'preHandler'] as const)(
    'answers an A2AError of an %s hook in the form of the binding, with the headers of hooks',
    async (hook) => {
      const origin = await start((app) =>
        app.addHook(hook as 'onRequest', async (_request, reply) => {
          reply.header('x-limit', '1');
          throw new A2AError('UNAUTHENTICATED', 'Say who you are');
        }),
      );
      const refusal = { reason: 'UNAUTHENTICATED', id: null, headers: { 'x-limit': '1' } } as const;
      expectRefusal(binding, await post(origin), refusal);
    },
  );

  it('leaves other errors of hooks to the app', async () => {
    const origin = await start((app) =>
      app
        .setErrorHandler((error, _request, reply) => reply.status(418).send(String(error)))
        .addHook('onRequest', async () => {
          throw new Error('of a hook');
        }),
    );
    expect(await post(origin)).toMatchObject({ status: 418, text: 'Error: of a hook' });
  });

  it('leaves a request that the server cannot answer to the app', async () => {
    const app = fastify();
    app.setErrorHandler((error, _request, reply) => reply.status(503).send(String(error)));
    const handle = () => Promise.reject(new Error('broken'));
    app.register(a2aFastify({ handle }), { prefix: '/agent' });
    await app.ready();
    expect(await post(await listen(app.routing))).toMatchObject({ status: 503, text: 'Error: broken' });
  });

  it('logs a client that leaves in the middle of a request, and not as an error', async () => {
    const origin = await start();
    logged.length = 0;
    await abandon(origin, path, body);
    await vi.waitFor(() => expect(logged).toHaveLength(1));
    expect(logged[0]!.slice(0, 2)).toEqual(['info', 'A client left before its request was complete']);
  });
});
