import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { abandon, exchange } from '../../../../../test/kit/http/exchange.ts';
import { leavesNoTrace, rpcBody, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { roads } from '../../../../../test/kit/http/mounts.ts';
import { expectRefusal } from '../../../../../test/kit/http/refusal.ts';
import { type Served, serveHttp } from '../../../../../test/kit/http/serve-http.ts';
import { said } from '../../../../../test/kit/http/wrong-sends.ts';
import type { Logger } from '../../../src/index.ts';

describe.each(roads)('%s', (name, mount) => {
  let served: Served;
  let logged: Parameters<Logger>[] = [];
  beforeAll(async () => {
    served = await serveHttp({ logger: (...entry) => logged.push(entry) }, mount);
  });
  afterAll(() => served.close());

  describe('the address in the card', () => {
    const urlFor = async (host: string) => {
      const path = '/agent/.well-known/agent-card.json';
      const { json } = await exchange(served.origin, { path, headers: { host } });
      return json.supportedInterfaces[0].url;
    };

    it('is that of the request if it names this machine', async () => {
      expect(await urlFor('localhost:8080')).toBe('http://localhost:8080/agent');
    });

    it('is not what a client chose, perhaps through a proxy on this machine', async () => {
      const path = '/agent/.well-known/agent-card.json';
      const headers = { host: 'agents.example:8080', 'x-forwarded-host': 'agents.example' };
      const { status, text } = await exchange(served.origin, { path, headers });
      expect([status, text.includes('agents.example')]).toEqual([403, false]);
    });

    const wrong = [' ', 'a b', 'a/b', 'a@b', 'a?b', '[', 'host:99999'];
    // Hono's server for Node.js refuses the others before the agent is asked.
    it.each(['', ...(/Hono|fetch/.test(name) ? [] : wrong)])(
      'is where the request arrived if its host is %j',
      async (host) => {
        expect(await urlFor(host)).toBe(`${served.origin}/agent`);
      },
    );
  });

  // biome-ignore format: a table reads best with one row per line
  const bindings = [
    { binding: 'JSONRPC', path: '', wrap: (params: object) => rpcBody('SendMessage', params) },
    { binding: 'HTTP+JSON', path: '/message:send', wrap: (params: object) => JSON.stringify(params) },
  ] as const;

  describe.each(bindings)('$binding', ({ binding, path, wrap }) => {
    const body = wrap({ message: said() });

    it.each(['gzip', 'br', 'magic', 'gzip, gzip'])(
      'refuses a body compressed as %s where no parser unpacks it, and says so',
      async (coding) => {
        await leavesNoTrace(served, async () => {
          const headers = { ...usual, 'content-encoding': coding };
          const reply = await exchange(served.origin, {
            method: 'POST',
            path: `/agent${path}`,
            headers,
            body: gzipSync(body),
          });
          expectRefusal(binding, reply, { reason: 'UNSUPPORTED_MEDIA_TYPE', id: null });
          expect(reply.text).toContain(`compressed (${coding})`);
        });
      },
    );

    it.each(['identity', 'Identity', ''])('takes a body of the coding %j', async (coding) => {
      const headers = { ...usual, 'content-encoding': coding };
      const reply = await exchange(served.origin, { method: 'POST', path: `/agent${path}`, headers, body });
      expect(reply.status).toBe(200);
    });

    it('logs a client that leaves in the middle of a request, and not as an error', async () => {
      logged = [];
      await abandon(served.origin, `/agent${path}`, body);
      await vi.waitFor(() => expect(logged).toHaveLength(1));
      expect(logged[0]!.slice(0, 2)).toEqual(['info', 'A client left before its request was complete']);
    });
  });
});
