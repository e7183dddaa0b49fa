import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { listen } from '../../../test/kit/listen.ts';
import { UnfinishedMessage } from '../src/sockets/callers.ts';
import { FrameReader } from '../src/sockets/frame-reader.ts';
import {
  headersOf,
  routeUpgrades,
  SocketListener,
  type SocketRole,
  type SocketSettings,
} from '../src/sockets.ts';

const settings: SocketSettings = {
  origins: [],
  sameHost: false,
  sockets: 100,
  socketsPerCaller: 100,
  pingMs: 1e6,
  pongMs: 1e6,
  idleMs: 1e6,
  idleCode: 1001,
  compression: false,
  maxBytes: 1_000,
  messageMs: 1e6,
};

/** A listener at a free port, and what was told to its role. */
async function accept(
  given: Partial<SocketSettings> = {},
  more: Partial<SocketRole<string>> = {},
  remoteAddress?: string,
) {
  const server = createServer();
  const served: WebSocket[] = [];
  const sockets = new SocketListener<string>(
    { ...settings, ...given },
    {
      isOpen: () => true,
      admit: async ({ headers }) => String(headers['x-name']),
      serve(socket) {
        served.push(socket);
        return { isIdle: false, activeAt: 0 };
      },
      callerOf: () => undefined,
      refuse: (error) => ({ status: 418, headers: { 'x-why': 'this' }, body: (error as Error).message }),
      ...more,
    },
  );
  const unroute = routeUpgrades(server, '/', (request, socket, head) => {
    if (remoteAddress) Object.defineProperty(request.socket, 'remoteAddress', { value: remoteAddress });
    sockets.upgrade(request, socket, head);
  });
  onTestFinished(() => {
    for (const socket of served) socket.terminate();
    sockets.close(1001, '');
  });
  const url = (await listen(server)).replace('http', 'ws');
  /** Resolves to the WebSocket, or to the status and the text of a refusal. */
  const open = (headers: Record<string, string> = {}, protocols: string[] = []) =>
    new Promise<WebSocket | string>((resolve, reject) => {
      const socket = new WebSocket(url, protocols, { headers });
      onTestFinished(() => socket.terminate());
      socket.once('open', () => resolve(socket)).once('error', reject);
      socket.once('unexpected-response', async (_, response) => {
        let body = '';
        for await (const chunk of response) body += chunk;
        resolve(`${response.statusCode} ${body}`);
      });
    });
  /** Resolves once another WebSocket of the same caller is accepted. */
  const opens = (headers?: Record<string, string>) =>
    expect.poll(async () => typeof (await open(headers))).toBe('object');
  return { server, sockets, url, open, opens, served, unroute };
}

const opened = (answer: WebSocket | string): WebSocket =>
  typeof answer === 'string' ? expect.unreachable(answer) : answer;
const gate = () => Promise.withResolvers<void>();
const bytesOf = (port: string, text: string) => {
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.write(text);
  return socket;
};
const handshake = (more = '') =>
  `GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`;

describe('pages of the same host', () => {
  const names = { of: ['agent.example', 'other.example'] };
  const notHere = '418 Pages of this origin may not connect';

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, sameHost: SocketSettings['sameHost'], origin: string, host: string, address: string, mayConnect: boolean]>([
    ['may not unless it is said', false, 'http://a.example', 'a.example', '127.0.0.1', false],
    ['may', true, 'http://a.example', 'a.example', '127.0.0.1', true],
    ['may by any scheme', true, 'https://a.example', 'a.example', '127.0.0.1', true],
    ['are those of the same port', true, 'http://a.example:1', 'a.example:2', '127.0.0.1', false],
    ['are not those of another', true, 'http://a.example', 'b.example', '127.0.0.1', false],
    ['are not those without an origin', true, 'null', 'null', '127.0.0.1', false],
    ['are not those of no URL', true, 'a.example', 'a.example', '127.0.0.1', false],
    ['may over loopback by a name of the host', names, 'https://agent.example', 'agent.example', '127.0.0.1', true],
    ['may over loopback by another name of the host, with a port', names, 'http://other.example:81', 'other.example:81', '::1', true],
    ['may over loopback by a name of this machine', names, 'http://localhost:81', 'localhost:81', '127.0.0.1', true],
    ['may not over loopback by any other name: DNS rebinding', names, 'http://evil.example', 'evil.example', '127.0.0.1', false],
    ['may not over loopback by a name that ends like it', names, 'http://evil-agent.example', 'evil-agent.example', '::ffff:127.0.0.1', false],
    ['may over a network by any name', names, 'http://evil.example', 'evil.example', '192.0.2.7', true],
    ['may over a network by its address, where the host is known here', { of: ['localhost'] }, 'http://192.0.2.1:81', '192.0.2.1:81', '192.0.2.7', true],
    ['may not over a network by a public name, where the host is known here', { of: ['localhost'] }, 'http://evil.example', 'evil.example', '192.0.2.7', false],
    ['may not over a network by the name of another', names, 'http://evil.example', 'agent.example', '192.0.2.7', false],
  ])('%s', async (_, sameHost, origin, host, address, mayConnect) => {
    const { open } = await accept({ sameHost }, {}, address);
    const answer = await open({ origin, host });
    if (mayConnect) opened(answer);
    else expect(answer).toBe(notHere);
  });
});

describe('a sub-protocol', () => {
  it.each([
    [undefined, 'x', undefined],
    ['a2a.v1', 'x, A2A.V1', 'A2A.V1'],
    ['a2a.v1', 'x', undefined],
  ])('of %s is chosen from "%s": %s', async (subprotocol, offered, chosen) => {
    const { url } = await accept(subprotocol ? { subprotocol } : {});
    const socket = bytesOf(new URL(url).port, handshake(`Sec-WebSocket-Protocol: ${offered}\r\n`));
    const answer = String((await once(socket, 'data'))[0]);
    expect(answer).toMatch(/^HTTP\/1\.1 101/);
    expect(/^Sec-WebSocket-Protocol: (.*)\r$/im.exec(answer)?.[1]).toBe(chosen);
  });

  it.each([
    ['a2a.v1', true],
    [' soap ,\tA2A.v1 ', true],
    ['soap,a2a.v2', false],
    ['', false],
    [undefined, false],
  ])('is offered by %j: %s', async (header, expected) => {
    const { sockets } = await accept({ subprotocol: 'a2a.v1' });
    expect(sockets.isOffered(header)).toBe(expected);
  });
});

describe('an upgrade', () => {
  it.each([
    ['while the listener is closed', { isOpen: () => false }, '418 The server is closing'],
    [
      'of a client that may not',
      {
        admit: async () => {
          throw new Error('Not you');
        },
      },
      '418 Not you',
    ],
  ])('%s is refused', async (_, role: Partial<SocketRole<string>>, answer) => {
    const { open } = await accept({}, role);
    expect(await open()).toBe(answer);
  });

  it('beyond the number of WebSockets is refused, also while they are admitted', async () => {
    const { promise, resolve } = gate();
    const { open, served } = await accept(
      { sockets: 2 },
      { admit: ({ headers }) => promise.then(() => String(headers['x-name'])) },
    );
    const first = open();
    const second = open();
    expect(await Promise.race([open(), first, second])).toBe('418 Too many WebSockets');
    resolve();
    const closing = opened(await first);
    await second;
    expect(await open()).toBe('418 Too many WebSockets');
    closing.close();
    await expect.poll(() => served.filter(({ readyState }) => readyState === 3).length).toBe(1);
    opened(await open());
  });

  it('counts by the name of the caller, or by the address', async () => {
    const { open, opens, served } = await accept(
      { socketsPerCaller: 1 },
      { callerOf: (name) => (name === 'undefined' ? undefined : name) },
    );
    const ada = opened(await open({ 'x-name': 'ada' }));
    expect(await open({ 'x-name': 'ada' })).toBe('418 Too many WebSockets of this caller');
    opened(await open({ 'x-name': '127.0.0.1' }));
    opened(await open());
    expect(await open()).toBe('418 Too many WebSockets of this address');
    ada.close();
    await opens({ 'x-name': 'ada' });
    expect(served).toHaveLength(4);
  });

  it('of a client that leaves meanwhile is served to nobody', async () => {
    const { promise, resolve } = gate();
    const arrived = Promise.withResolvers<IncomingMessage>();
    const { url, opens, served } = await accept(
      { socketsPerCaller: 1 },
      {
        callerOf: (name) => name,
        admit: (request) => {
          arrived.resolve(request);
          return promise.then(() => 'ada');
        },
      },
    );
    const client = bytesOf(new URL(url).port, handshake());
    const { socket } = await arrived.promise;
    client.resetAndDestroy();
    await new Promise((left) => socket.once('close', left));
    resolve();
    await opens();
    expect(served).toHaveLength(1);
  });

  it('that `ws` refuses has left', async () => {
    const { url, opens, served } = await accept({ socketsPerCaller: 1 });
    const socket = bytesOf(new URL(url).port, handshake().replace('13', '12'));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 4\d\d/);
    socket.end();
    await opens();
    expect(served).toHaveLength(1);
  });

  it('is refused with the response of the role, and its connection is closed', async () => {
    const { server, url } = await accept(
      {},
      { refuse: () => ({ status: 418, headers: { 'x-why': 'this' }, body: 'Grün' }) },
    );
    const socket = bytesOf(new URL(url).port, handshake('Origin: http://a.example\r\n'));
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes;
    });
    await once(socket, 'end');
    expect(text).toBe(
      'HTTP/1.1 418 Refused\r\nx-why: this\r\ncontent-length: 5\r\nconnection: close\r\n\r\nGrün',
    );
    // The client has left its half open.
    const connections = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    await expect.poll(connections).toBe(0);
  });

  it('is refused with a response that may have no body', async () => {
    const { url } = await accept({}, { refuse: () => ({ status: 418, headers: {} }) });
    const socket = bytesOf(new URL(url).port, handshake('Origin: http://a.example\r\n'));
    expect(String((await once(socket, 'data'))[0])).toBe(
      'HTTP/1.1 418 Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n',
    );
  });

  it.each([
    ['of another method', handshake().replace('GET', 'PUT')],
    ['to another protocol', handshake().replace('Upgrade: websocket', 'Upgrade: h2c')],
  ])('%s is refused', async (_, text) => {
    const { url } = await accept();
    const socket = bytesOf(new URL(url).port, text);
    expect(String((await once(socket, 'data'))[0])).toContain('The upgrade must be a GET to a WebSocket');
  });

  it('may name its protocol in any case of letters', async () => {
    const { url } = await accept();
    const socket = bytesOf(
      new URL(url).port,
      handshake().replace('Upgrade: websocket', 'Upgrade: WebSocket'),
    );
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101/);
  });
});

describe('the end of a listener', () => {
  it('closes all WebSockets with a code and a reason', async () => {
    const { open, sockets } = await accept();
    const clients = [opened(await open()), opened(await open())];
    const ends = clients.map((client) => once(client, 'close'));
    sockets.close(1012, 'Restart');
    for (const [code, reason] of await Promise.all(ends))
      expect([code, String(reason)]).toEqual([1012, 'Restart']);
  });
});

describe('routes of upgrades', () => {
  it('leave other paths to other listeners, or answer 404', async () => {
    const { server, url, unroute } = await accept();
    const { port } = new URL(url);
    const answerTo = async (path: string) => {
      const socket = bytesOf(port, handshake().replace('GET /', `GET ${path}`));
      const text = String((await once(socket, 'data'))[0]);
      socket.destroy();
      return text.split('\r\n')[0];
    };
    expect(await answerTo('/?a=b')).toMatch(/101/);
    expect(await answerTo('/other')).toBe('HTTP/1.1 404 Refused');
    const other = (request: IncomingMessage, socket: Duplex) => {
      if (request.url === '/other') socket.end('HTTP/1.1 204 Mine\r\n\r\n');
    };
    server.on('upgrade', other);
    expect(await answerTo('/other')).toBe('HTTP/1.1 204 Mine');
    server.off('upgrade', other);
    unroute();
    expect(await answerTo('/')).toBe('HTTP/1.1 404 Refused');
  });

  it('read repeated headers as one', () => {
    const headers = { host: 'a', 'set-cookie': ['x', 'y'], none: undefined };
    expect(headersOf({ headers } as unknown as IncomingMessage)).toEqual({
      host: 'a',
      'set-cookie': 'x, y',
      none: undefined,
    });
  });
});

describe('a message that has not arrived as a whole', () => {
  /** A client, and what its unfinished message holds at the server. */
  async function watch(most: number, perMessageDeflate = false) {
    const server = createServer();
    const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: true });
    const caller = { sockets: 1, bytes: 0, most };
    const watched = Promise.withResolvers<{
      message: UnfinishedMessage;
      ws: WebSocket;
      closed: Promise<unknown>;
    }>();
    server.on('upgrade', (request, socket, head) =>
      acceptor.handleUpgrade(request, socket, head, (ws) => {
        onTestFinished(() => ws.terminate());
        const message = new UnfinishedMessage(ws, socket, caller, 200_000);
        watched.resolve({ message, ws, closed: once(ws, 'close') });
      }),
    );
    const client = new WebSocket((await listen(server)).replace('http', 'ws'), { perMessageDeflate });
    onTestFinished(() => client.terminate());
    await once(client, 'open');
    const raw = (client as unknown as { _socket: Duplex })._socket;
    const ping = async () => {
      client.ping();
      await once(client, 'pong');
    };
    return { ...(await watched.promise), caller, client, raw, ping };
  }
  const none = Number.POSITIVE_INFINITY;

  it('holds its bytes until it has; pings and pongs hold none', async () => {
    const { message, ws, caller, client, raw, ping } = await watch(1_000);
    expect([caller.bytes, message.since]).toEqual([0, none]);
    client.ping('Are you there?');
    await once(client, 'pong');
    client.pong('Here I am');
    await ping();
    expect([caller.bytes, message.since]).toEqual([0, none]);
    // A frame that is shorter than 126 bytes has 6 bytes besides its text.
    client.send('12345', { fin: false });
    await ping();
    expect(caller.bytes).toBe(11);
    const { since } = message;
    expect(since).toBeLessThanOrEqual(performance.now());
    client.send('678', { fin: false });
    await ping();
    expect([caller.bytes, message.since]).toEqual([20, since]);
    const whole = once(ws, 'message');
    client.send('9');
    expect(String((await whole)[0])).toBe('123456789');
    expect([caller.bytes, message.since]).toEqual([0, none]);
    // A message and a ping that arrive together.
    raw.cork();
    client.send('1');
    client.ping('2');
    raw.uncork();
    await once(client, 'pong');
    expect([caller.bytes, message.since]).toEqual([0, none]);
    // A message, and the beginning of the next one.
    raw.cork();
    client.send('x'.repeat(300));
    client.send('12345', { fin: false });
    raw.uncork();
    await ping();
    expect(caller.bytes).toBe(11);
    client.terminate();
    await once(ws, 'close');
    expect([caller.bytes, message.since]).toEqual([0, none]);
  });

  it('of as many bytes as its caller may hold goes on, and of more it ends', async () => {
    const { message, caller, client, ping, closed } = await watch(26);
    client.send('x'.repeat(14), { fin: false });
    await ping();
    expect(caller.bytes).toBe(20);
    const ended = once(client, 'close');
    client.send('x', { fin: false });
    const [code, reason] = await ended;
    expect([code, String(reason)]).toEqual([1008, 'Too many unfinished messages']);
    await closed;
    expect([caller.bytes, message.since]).toEqual([0, none]);
  });

  it('that is deflated holds what it may be inflated, as much as one message at most', async () => {
    const { caller, client, ping } = await watch(1e6, true);
    const part = 'x'.repeat(100_000);
    client.send(part, { fin: false });
    await ping();
    expect(caller.bytes).toBeGreaterThanOrEqual(part.length);
    client.send(part, { fin: false });
    client.send(part, { fin: false });
    await ping();
    expect(caller.bytes).toBeGreaterThanOrEqual(200_000);
    expect(caller.bytes).toBeLessThan(201_000);
    client.send('');
    await ping();
    expect(caller.bytes).toBe(0);
  });
});

it.each([1, 3, 1_000_000])('frames are found in bytes that come by %i', (size) => {
  const frame = (first: number, length: number, more: number[], masked = 0x80) =>
    Buffer.concat([Buffer.from([first, masked | length, ...more]), Buffer.alloc(masked ? 4 : 0)]);
  const bytes = Buffer.concat([
    frame(0x41, 126, [1, 44]),
    Buffer.alloc(300),
    frame(0x89, 2, []),
    Buffer.alloc(2),
    frame(0x80, 127, [0, 0, 0, 0, 0, 1, 0, 0]),
    Buffer.alloc(65_536),
    frame(0x81, 0, [], 0),
  ]);
  const found: [number, boolean, boolean, boolean][] = [];
  const reader = new FrameReader((frame) =>
    found.push([frame.bytes, frame.isControl, frame.isFinal, frame.isDeflated]),
  );
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size));
  expect(found).toEqual([
    [308, false, false, true],
    [8, true, true, false],
    [65_550, false, true, false],
    [2, false, true, false],
  ]);
});
