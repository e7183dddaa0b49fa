import { reply } from '@batonjs/server';
import express5 from 'express';
// @ts-expect-error Express 4 has no types of its own; those of Express 5 fit.
import express4 from 'express-4';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../../test/kit/http/exchange.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { a2aExpress } from '../src/index.ts';

type Express = typeof express5;

/** Mounts an echoing agent in an app of this Express. Resolves to the origin. */
function serveIn(
  mount: (app: ReturnType<Express>, handlers: ReturnType<typeof a2aExpress>) => void,
  express: Express,
): Promise<string> {
  const app = express();
  mount(app, a2aExpress(serve(({ text }) => reply(text))));
  return listen(app);
}

const message = (text: string) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] });
const roads = [
  ['JSON-RPC', '/agent', (params: object) => ({ jsonrpc: '2.0', id: 'r', method: 'SendMessage', params })],
  ['HTTP+JSON', '/agent/message:send', (params: object) => params],
] as const;

describe.each([
  ['Express 4', express4 as unknown as Express],
  ['Express 5', express5],
])('%s', (_, express) => {
  const mounts = {
    'by itself': (app, handlers) => app.use('/agent', handlers),
    'behind express.json()': (app, handlers) => app.use('/agent', express.json(), handlers),
    'behind express.json() of the app': (app, handlers) => app.use(express.json()).use('/agent', handlers),
  } satisfies Record<string, Parameters<typeof serveIn>[0]>;

  describe.each(Object.entries(mounts))('%s', (where, mount) => {
    describe.each(roads)('%s', (_binding, path, wrap) => {
      const post = async (text: string, type: string) =>
        exchange(await serveIn(mount, express), {
          method: 'POST',
          path,
          headers: { 'content-type': type, 'a2a-version': '1.0' },
          body: JSON.stringify(wrap({ message: message(text) })),
        });

      it.each(['application/json', 'application/a2a+json'])('takes %s', async (type) => {
        const { status, json } = await post('hello', type);
        expect(status).toBe(200);
        expect((json.result ?? json).message.parts).toEqual([{ text: 'hello' }]);
      });

      it('has an answer of the protocol for more than the parser takes', async () => {
        const { status, json } = await post('x'.repeat(200_000), 'application/json');
        if (where === 'by itself') return expect(status).toBe(200);
        expect(status).toBe(413);
        expect(json.error.message).toBe(
          'The body is larger than 102400 bytes, the limit of the parser in front of the agent',
        );
      });
    });
  });

  it('has the error handler by itself for where errors do not reach: routers and routes', async () => {
    const origin = await serveIn((app, handlers) => {
      app.use(express.json());
      app.use('/agent', express.Router().use(handlers[0]), handlers[1]);
    }, express);
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const body = JSON.stringify({ message: message('x'.repeat(200_000)) });
    const reply = await exchange(origin, { method: 'POST', path: '/agent/message:send', headers, body });
    expect([reply.status, reply.json.error.code]).toEqual([413, 413]);
  });
});
