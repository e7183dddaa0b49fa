import { createServer, type RequestListener, request, type Server } from 'node:http';
import { createServer as createTlsServer, get } from 'node:https';
import { type AddressInfo, connect as openSocket } from 'node:net';
import { connect, textOf } from '@batonjs/client';
import { type Agent, type AgentServerOptions, createAgentServer, type Logger, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { certificateOf } from '../../../test/support/certificate.ts';
import { nodeHandler } from '../src/index.ts';

const card = { name: 'Echo', description: 'Says it again' };
const echo: Agent = ({ text }) => reply(text);
const serverOf = (options: Partial<AgentServerOptions> = {}) =>
  closedAfterTest(
    createAgentServer({ card, agent: echo, store: memoryStore(), logger: () => {}, ...options }),
  );
const cardPath = '/.well-known/agent-card.json';

const open = new Set<Server>();
afterEach(async () => {
  for (const http of open) {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
  open.clear();
});

async function listen(http: Server): Promise<string> {
  open.add(http);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends the path as it is: `fetch` would tidy it up. */
function ask(origin: string, { path, method = 'GET', headers = {}, body }: Asked) {
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(origin);
      const req = request({ hostname, port, path, method, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      req.on('error', reject);
      req.end(body);
    },
  );
}

const urlIn = (text: string): string => JSON.parse(text).supportedInterfaces[0].url;
const sending = (text: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
  body: JSON.stringify({ message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }] } }),
});

describe('the mount', () => {
  it.each(['/agents/echo', '/agents/echo/'])(
    'at %s serves the paths below it, and nothing else',
    async (path) => {
      const origin = await serve(nodeHandler(serverOf(), { path }));
      const agent = await connect(`${origin}/agents/echo`);
      expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
      for (const elsewhere of ['/', cardPath, '/message:send', '/agents', '/agents/echoes', '/Agents/echo'])
        expect(await ask(origin, { path: elsewhere, ...sending('x') })).toMatchObject({
          status: 404,
          text: '',
        });
    },
  );

  it('takes a path with a query, and the whole URL that a proxy is sent', async () => {
    const origin = await serve(nodeHandler(serverOf(), { path: '/echo' }));
    for (const path of [`/echo${cardPath}?a2a-version=1.0`, `${origin}/echo${cardPath}`])
      expect(urlIn((await ask(origin, { path })).text)).toBe(`${origin}/echo`);
  });

  it('does not resolve dots: the path is served as it is written', async () => {
    const origin = await serve(nodeHandler(serverOf(), { path: '/echo' }));
    expect((await ask(origin, { path: `/other/../echo${cardPath}` })).status).toBe(404);
    const headers = { 'a2a-version': '1.0' };
    expect((await ask(origin, { path: `/echo/x/..${cardPath}`, headers })).status).toBe(404);
  });
});

describe('the address in the card', () => {
  it.each(['localhost:8080', 'agents.localhost', '127.0.0.2', '[::1]:4000'])(
    'is that of the request if it names this machine: %s',
    async (host) => {
      const origin = await serve(nodeHandler(serverOf()));
      expect(urlIn((await ask(origin, { path: cardPath, headers: { host } })).text)).toBe(`http://${host}`);
    },
  );

  it.each(['agents.example:8080', 'localhost.example', '10.0.0.1', '127.0.0.1.example', 'localhost.'])(
    'is not what a client chose, perhaps through a proxy on this machine: %s',
    async (host) => {
      const logged: unknown[] = [];
      const logger: Logger = (_level, _message, details) => void logged.push(details.err);
      // Without it, such a request is refused.
      const authenticate = () => ({ scope: 'ada' });
      const origin = await serve(nodeHandler(serverOf({ logger, authenticate })));
      const { status, text } = await ask(origin, { path: cardPath, headers: { host } });
      expect([status, text.includes(host)]).toEqual([500, false]);
      expect(String((logged[0] as Error).cause)).toContain('`publicUrl`');
    },
  );

  it('is that of any request if the owner says so', async () => {
    const origin = await serve(nodeHandler(serverOf(), { path: '/echo', trustHost: true }));
    const headers = { host: 'agents.example:8080' };
    expect(urlIn((await ask(origin, { path: `/echo${cardPath}`, headers })).text)).toBe(
      'http://agents.example:8080/echo',
    );
  });

  it.each(['', 'a b', 'a/b', 'a@b', 'host:99999'])(
    'is where the request arrived if its host is %j',
    async (host) => {
      const origin = await serve(nodeHandler(serverOf()));
      expect(urlIn((await ask(origin, { path: cardPath, headers: { host } })).text)).toBe(origin);
    },
  );

  it('is not taken from what a proxy would say', async () => {
    const origin = await serve(nodeHandler(serverOf()));
    const headers = { 'x-forwarded-host': 'elsewhere.example', 'x-forwarded-proto': 'https' };
    expect(urlIn((await ask(origin, { path: cardPath, headers })).text)).toBe(origin);
  });

  it('says https where the connection is encrypted', async () => {
    const { key, cert } = certificateOf('agents.example');
    const origin = await listen(createTlsServer({ key, cert }, nodeHandler(serverOf(), { trustHost: true })));
    const { port } = new URL(origin);
    const text = await new Promise<string>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: cardPath, ca: cert, servername: 'agents.example' };
      const headers = { host: `agents.example:${port}` };
      get({ ...options, headers, agent: false }, async (response) =>
        resolve((await response.toArray()).join('')),
      ).on('error', reject);
    });
    expect(urlIn(text)).toBe(`https://agents.example:${port}`);
  });
});

describe('requests and answers', () => {
  it('answer HEAD without a body', async () => {
    const origin = await serve(nodeHandler(serverOf()));
    expect(await ask(origin, { path: cardPath, method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it('refuse a body that is too large, and end its connection', async () => {
    const origin = await serve(nodeHandler(serverOf({ limits: { bodyBytes: 1_000 } })));
    const answer = await ask(origin, { path: '/message:send', ...sending('x'.repeat(2_000)) });
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(answer.text).toContain('1000');
  });

  it('think nothing of a client that leaves in the middle of a request', async () => {
    const logged: Parameters<Logger>[] = [];
    const origin = await serve(nodeHandler(serverOf({ logger: (...entry) => logged.push(entry) })));
    const socket = openSocket(Number(new URL(origin).port), '127.0.0.1');
    const head =
      'POST /message:send HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{';
    await new Promise<void>((resolve) => socket.write(head, () => resolve()));
    socket.resetAndDestroy();
    await vi.waitFor(() => expect(logged).toHaveLength(1));
    expect(logged[0]!.slice(0, 2)).toEqual(['info', 'A client left before its request was complete']);
  });

  it('answer 500 without the cause', async () => {
    const handle = () => Promise.reject(new Error('hunter2'));
    const origin = await serve(nodeHandler({ handle }));
    expect(await ask(origin, { path: '/' })).toMatchObject({ status: 500, text: '' });
  });
});
