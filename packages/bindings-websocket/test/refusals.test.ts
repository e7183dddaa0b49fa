import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { attachWebSocket } from '../src/index.ts';
import { serve } from './agent.ts';
import { message, Refused, rawSocket } from './raw-socket.ts';

const refusalOf = async (opening: Promise<unknown>): Promise<Refused> => {
  const error = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Refused) return error;
  throw error ?? new Error('The connection was opened');
};

const infoOf = ({ body }: Refused) => body.error.details[0];

describe('an upgrade', () => {
  it.each([
    [['a2a.v1'], 'a2a.v1'],
    [['A2A.V1'], 'A2A.V1'],
    [['soap', 'a2a.v1', 'chat'], 'a2a.v1'],
  ])('that offers %j gets %s [R-WS-11]', async (offered, chosen) => {
    const { url } = await serve();
    expect((await rawSocket(url, {}, offered)).ws.protocol).toBe(chosen);
  });

  it.each([[[]], [['soap']], [['a2a.v2', 'a2a']]])(
    'that offers %j is refused with 400 [R-WS-11]',
    async (offered) => {
      const { url } = await serve();
      const refusal = await refusalOf(rawSocket(url, {}, offered));
      expect(refusal.status).toBe(400);
      expect(infoOf(refusal).reason).toBe('INVALID_REQUEST');
      expect(refusal.body.error.message).toContain('a2a.v1');
    },
  );

  it.each<[string, readonly string[] | true | undefined, string | undefined, number]>([
    ['of any page is refused by default', undefined, 'https://app.example', 403],
    ['of a page of the same host is refused by default', undefined, 'http://127.0.0.1', 403],
    ['of a page without an origin is refused by default', undefined, 'null', 403],
    ['of a page that is not listed', ['https://app.example'], 'https://app.example.evil.example', 403],
    ['of a page of another port', ['https://app.example'], 'https://app.example:8443', 403],
    ['of a listed page', ['https://app.example'], 'https://app.example', 101],
    ['of any page, if all may', true, 'https://evil.example', 101],
    ['of a client outside of a browser', undefined, undefined, 101],
  ])('%s [R-WS-33]', async (_, origins, origin, status) => {
    const { url } = await serve({}, { origins });
    // Also of a page whose name leads to this machine: browsers send the origin with every WebSocket.
    const headers: Record<string, string> = {};
    if (origin !== undefined) headers.origin = origin;
    if (origin !== undefined && origin !== 'null') headers.host = new URL(origin).host;
    const opening = rawSocket(url, { headers });
    if (status === 101) return void (await opening);
    const refusal = await refusalOf(opening);
    expect(refusal.status).toBe(status);
    expect(infoOf(refusal).reason).toBe('PERMISSION_DENIED');
  });

  it('is authenticated by its headers, and a refusal has the challenge of the card [R-CB-06] [R-WS-19]', async () => {
    const securitySchemes = { key: { apiKeySecurityScheme: { location: 'header' as const, name: 'x-key' } } };
    const asked: unknown[] = [];
    const { url } = await serve({
      card: {
        name: 'C',
        description: 'C',
        securitySchemes,
        securityRequirements: [{ schemes: { key: {} } }],
      },
      authenticate({ method, path, query, headers }) {
        asked.push([method, path, query.size]);
        return headers['x-key'] === 'ada' ? { scope: 'ada' } : undefined;
      },
    });
    // Credentials in the query are none: an address is written to logs.
    const refusal = await refusalOf(rawSocket(`${url}?x-key=ada`));
    expect(refusal.status).toBe(401);
    expect(refusal.headers['www-authenticate']).toMatch(/^ApiKey .*x-key/);
    expect(infoOf(refusal).reason).toBe('UNAUTHENTICATED');
    expect(asked).toEqual([['GET', '/', 0]]);
    const socket = await rawSocket(url, { headers: { 'x-key': 'ada' } });
    expect((await socket.next(socket.request('ListTasks'))).result.tasks).toEqual([]);
  });

  it('shows nothing of an authenticator that breaks', async () => {
    const { url } = await serve({
      authenticate: () => {
        throw new Error('a secret of the authenticator');
      },
    });
    const refusal = await refusalOf(rawSocket(url));
    expect(refusal.status).toBe(500);
    expect(JSON.stringify(refusal.body)).not.toContain('secret');
  });

  it('is refused with 503 beyond the number of connections, and for one caller [R-WS-20]', async () => {
    const { url, endpoint } = await serve(
      { authenticate: ({ headers }) => ({ scope: headers['x-name']! }) },
      { connections: 3, connectionsPerCaller: 2 },
    );
    const open = (name: string) => rawSocket(url, { headers: { 'x-name': name } });
    const first = await open('ada');
    await open('ada');
    const third = await refusalOf(open('ada'));
    expect([third.status, third.headers['retry-after']]).toEqual([503, '1']);
    expect(third.body.error.message).toContain('of this caller');
    await open('ben');
    expect((await refusalOf(open('cleo'))).status).toBe(503);
    first.ws.close();
    await first.closed;
    await expect.poll(() => endpoint.connections).toBe(2);
    await open('ada');
  });

  it('that leaves or breaks off frees its place', async () => {
    const { url, endpoint } = await serve(
      { authenticate: () => ({ scope: 'ada' }) },
      { connectionsPerCaller: 1 },
    );
    const { port, hostname } = new URL(url);
    const lines = (key: string) =>
      `GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: a2a.v1\r\n\r\n`;
    const wrong = connect(Number(port), hostname);
    wrong.write(lines('no key'));
    expect(String((await once(wrong, 'data'))[0])).toMatch(/^HTTP\/1\.1 400/);
    await once(wrong, 'close');
    const leaving = connect(Number(port), hostname);
    leaving.write(lines('dGhlIHNhbXBsZSBub25jZQ=='), () => leaving.resetAndDestroy());
    await once(leaving, 'close');
    await expect
      .poll(() =>
        rawSocket(url).then(
          () => endpoint.connections,
          () => 0,
        ),
      )
      .toBe(1);
  });

  it.each([
    ['at another path', 'GET /other HTTP/1.1', 404],
    ['that is no GET', 'POST /ws HTTP/1.1', 400],
  ])('%s is refused', async (_, line, status) => {
    const { url } = await serve();
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(`${line}\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`));
    await once(socket, 'close');
  });

  it('that is a plain GET is answered by the handler of requests', async () => {
    const { origin } = await serve();
    expect((await fetch(`${origin}/ws`, { headers: { 'a2a-version': '1.0' } })).status).toBe(404);
  });
});

describe('one listener', () => {
  it('serves several agents, each at its path, and no path twice', async () => {
    const listener = createServer();
    const agents = ['a', 'b'].map((name) => {
      const server = createAgentServer({
        card: { name, description: name },
        name,
        agent: () => reply(name),
        store: memoryStore(),
        logger: () => {},
      });
      return { server, endpoint: attachWebSocket(server, listener, { path: `agents/${name}` }) };
    });
    expect(() => attachWebSocket(agents[0]!.server, listener, { path: '/agents/a' })).toThrow(
      'served at /agents/a already',
    );
    await listen(listener);
    for (const [index, name] of ['a', 'b'].entries()) {
      const socket = await rawSocket(agents[index]!.endpoint.url!);
      const { result } = await socket.next(socket.request('SendMessage', message('hi')));
      expect(result.message.parts).toEqual([{ text: name }]);
    }
    await agents[0]!.endpoint.close({ graceMs: 0 });
    const { port } = new URL(agents[1]!.endpoint.url!);
    expect((await refusalOf(rawSocket(`ws://127.0.0.1:${port}/agents/a`))).status).toBe(404);
    await rawSocket(agents[1]!.endpoint.url!);
    await Promise.all(
      agents.map(({ server, endpoint }) => Promise.all([server.close(), endpoint.close({ graceMs: 0 })])),
    );
  });
});

describe('an interface in the card', () => {
  const listed = ({ server }: Awaited<ReturnType<typeof serve>>) =>
    server
      .fetch(new Request('http://localhost/.well-known/agent-card.json'))
      .then((response) => response.json())
      .then(({ supportedInterfaces }) =>
        supportedInterfaces
          .filter(({ url }: { url: string }) => url.startsWith('ws'))
          .map(({ url, protocolBinding }: Record<string, string>) => `${protocolBinding} ${url}`),
      );
  const ours = 'https://batonjs.dev/bindings/websocket/v1';

  it('is there from when the listener listens until the endpoint is closed [R-CB-07] [R-CB-11]', async () => {
    const served = await serve();
    expect(await listed(served)).toEqual([`${ours} ${served.url}`]);
    await served.endpoint.close();
    expect(await listed(served)).toEqual([]);
  });

  it('has the address that was given, and further names [R-WS-10] [R-WS-30]', async () => {
    const served = await serve({}, { url: 'wss://agent.example/ws', aliases: ['WEBSOCKET'] });
    expect(await listed(served)).toEqual([
      `${ours} wss://agent.example/ws`,
      'WEBSOCKET wss://agent.example/ws',
    ]);
  });

  it('is missing for a host that means all addresses', async () => {
    const { server } = await serve();
    const listener = createServer();
    const endpoint = attachWebSocket(server, listener, { path: '/other' });
    await once(listener.listen(0, '0.0.0.0'), 'listening');
    expect(endpoint.url).toBeUndefined();
    await endpoint.close();
    listener.close();
  });

  it('is missing where nothing was attached [R-CB-09]', async () => {
    const server = createAgentServer({
      card: { name: 'C', description: 'C' },
      agent: () => reply('hi'),
      store: memoryStore(),
    });
    expect(await listed({ server } as never)).toEqual([]);
    await server.close();
  });
});
