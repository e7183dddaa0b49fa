import { ClientError, connect } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { bothBindings, cardOf, failureOf, freePort, peer, serve, taskIn } from './serve.ts';

/** A server that gives the same answer at every path. */
const serveText = (status: number, body: string, headers: Record<string, string> = {}) =>
  serve((_, response) => response.writeHead(status, headers).end(body));

const at = (url: string, protocolBinding: string, protocolVersion = '1.0') => ({
  url,
  protocolBinding,
  protocolVersion,
});

describe('reading the card', () => {
  it('requests the card below the given URL, with or without a trailing slash [R-CARD-02]', async () => {
    const asked: string[] = [];
    const { url } = await serve((request, response) => {
      asked.push(request.url!);
      response.end(JSON.stringify(bothBindings('http://127.0.0.1')));
    });
    await connect(`${url}/agents/expense`);
    await connect(`${url}/agents/expense/`);
    await connect(new URL(url));
    expect(asked).toEqual([
      '/agents/expense/.well-known/agent-card.json',
      '/agents/expense/.well-known/agent-card.json',
      '/.well-known/agent-card.json',
    ]);
  });

  it('takes a URL that ends in .json for the card itself', async () => {
    const asked: string[] = [];
    const { url } = await serve((request, response) => {
      asked.push(request.url!);
      response.end(JSON.stringify(bothBindings('http://127.0.0.1')));
    });
    await connect(`${url}/cards/7.json?v=2`);
    expect(asked).toEqual(['/cards/7.json?v=2']);
  });

  it('takes a card that is known already, without a request', async () => {
    const agent = await connect(bothBindings('http://127.0.0.1:1'));
    expect(agent.card.name).toBe('Peer');
  });

  it('sends the version with the request for the card [R-VER-01]', async () => {
    let version: unknown;
    const { url } = await serve((request, response) => {
      version = request.headers['a2a-version'];
      response.end(JSON.stringify(bothBindings('http://127.0.0.1')));
    });
    await connect(url);
    expect(version).toBe('1.0');
  });

  it.each([
    ['HTML', 200, '<html>Welcome</html>', /is not JSON/],
    ['nothing', 200, '', /is not JSON/],
    ['JSON that is cut off', 200, '{"name":"x","supportedInterfaces":[{"url"', /is not JSON/],
    ['null', 200, 'null', /no supportedInterfaces/],
    ['a list', 200, '[]', /no supportedInterfaces/],
    [
      'a card of A2A 0.3',
      200,
      '{"name":"x","url":"http://x","preferredTransport":"JSONRPC"}',
      /no supportedInterfaces/,
    ],
    ['a card without interfaces', 200, '{"name":"x","supportedInterfaces":[]}', /no supportedInterfaces/],
    ['a page that says 404', 404, '<html>Not found</html>', /answers 404/],
    ['a 304 without a conditional request', 304, '', /answers 304/],
  ])('explains what is wrong with %s [R-CARD-08]', async (_, status, body, message) => {
    const { url } = await serveText(status, body);
    const error = await failureOf(connect(url));
    expect(error).toMatchObject({ name: 'ClientError', code: 'INVALID_CARD' });
    expect(error.message).toMatch(message);
    expect(error.message).toContain(url);
  });

  it.each([
    ['8192 bytes', { maxResponseBytes: 8 * 1024 }],
    ['1048576 bytes', {}],
  ])('refuses a card of more than %s, before all of it is there', async (most, options) => {
    const { url } = await serve((_, response) => {
      const timer = setInterval(() => response.write(' '.repeat(65_536)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const error = await failureOf(connect(url, options));
    expect([error.code, error.message]).toEqual(['RESPONSE_TOO_LARGE', expect.stringContaining(most)]);
  });

  it('reports that no server listens', async () => {
    const error = await failureOf(connect(`http://127.0.0.1:${await freePort()}`, { retry: false }));
    expect(ClientError.is(error, 'NETWORK')).toBe(true);
    expect(ClientError.is(error, 'TIMEOUT')).toBe(false);
  });

  it('tries again when the agent is not there yet [R-SEED-13]', async () => {
    let requests = 0;
    const { url } = await serve((_, response) => {
      requests += 1;
      if (requests === 1) return response.socket?.destroy();
      if (requests === 2) return response.writeHead(503).end();
      return response.end(JSON.stringify(bothBindings('http://127.0.0.1')));
    });
    expect((await connect(url, { retry: { firstMs: 1 } })).card.name).toBe('Peer');
    requests = 0;
    expect((await failureOf(connect(url, { retry: { firstMs: 1, attempts: 2 } }))).reason).toBe(
      'UNAVAILABLE',
    );
  });

  it('gives up at its deadline', async () => {
    const { url } = await serve(() => {});
    expect((await failureOf(connect(url, { timeoutMs: 30 }))).code).toBe('TIMEOUT');
  });

  it('asks for credentials when the card is protected [R-CARD-05]', async () => {
    const { url } = await serve((request, response) => {
      if (request.headers.authorization !== 'Bearer 2') {
        return response.writeHead(401, { 'www-authenticate': 'Bearer realm="cards"' }).end();
      }
      return response.end(JSON.stringify(bothBindings('http://127.0.0.1')));
    });
    const asked: unknown[] = [];
    await connect(url, {
      credentials: ({ challenge, url: to }) => {
        asked.push([challenge, new URL(to).pathname]);
        return { authorization: challenge === undefined ? 'Bearer 1' : 'Bearer 2' };
      },
    });
    expect(asked).toEqual([
      [undefined, '/.well-known/agent-card.json'],
      ['Bearer realm="cards"', '/.well-known/agent-card.json'],
    ]);
    expect((await failureOf(connect(url))).reason).toBe('UNAUTHENTICATED');
  });
});

describe('the cache of cards', () => {
  const serveCard = async (headers: Record<string, string>) => {
    const served = { version: '1', requests: [] as (string | undefined)[] };
    const { url } = await serve((request, response) => {
      const tag = `"${served.version}"`;
      served.requests.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === tag) return response.writeHead(304, headers).end();
      const card = bothBindings('http://127.0.0.1', { version: served.version, capabilities: {} });
      return response.writeHead(200, { etag: tag, ...headers }).end(JSON.stringify(card));
    });
    return { url, served };
  };

  it('asks by ETag, and keeps what has not changed [R-CARD-04]', async () => {
    const { url, served } = await serveCard({});
    const agent = await connect(url);
    await agent.readCard();
    served.version = '2';
    expect((await agent.readCard()).version).toBe('2');
    expect(agent.card.version).toBe('2');
    expect(served.requests).toEqual([undefined, '"1"', '"1"']);
  });

  it('does not ask while the card is fresh, and asks by ETag afterwards [R-CARD-03, R-CARD-04]', async () => {
    const { url, served } = await serveCard({ 'cache-control': 'public, max-age=60' });
    let now = 1_000;
    const cards = new Map();
    const clock = { now: () => now };
    await connect(url, { cards, clock });
    await connect(url, { cards, clock });
    now += 59_999;
    await connect(url, { cards, clock });
    expect(served.requests).toHaveLength(1);
    now += 1;
    await connect(url, { cards, clock });
    await connect(url, { cards, clock });
    expect(served.requests).toEqual([undefined, '"1"']);
  });

  it('is not shared unless one is passed in', async () => {
    const { url, served } = await serveCard({ 'cache-control': 'max-age=60' });
    await connect(url);
    await connect(url);
    expect(served.requests).toEqual([undefined, undefined]);
  });
});

describe('picking an interface', () => {
  it('takes the first that it speaks, by binding and version [R-CARD-07, R-VER-08]', async () => {
    const card = cardOf([
      at('http://a', 'GRPC'),
      at('http://b', 'JSONRPC', '0.3'),
      at('http://c', 'https://example.com/bindings/pigeon'),
      at('http://d', 'JSONRPC', '1.1'),
      at('http://e', 'HTTP+JSON'),
      at('http://f', 'JSONRPC'),
    ]);
    expect((await connect(card)).interface.url).toBe('http://e');
  });

  it('reads a version with a patch number as the version without [R-VER-04]', async () => {
    const agent = await connect(cardOf([at('http://a', 'JSONRPC', '1.0.1')]));
    expect(agent.interface.url).toBe('http://a');
  });

  it('uses the binding that the caller chose [R-VER-07]', async () => {
    const agent = await connect(bothBindings('http://a'), { binding: 'HTTP+JSON' });
    expect(agent.interface.protocolBinding).toBe('HTTP+JSON');
  });

  it('uses the version that the caller chose [R-VER-07]', async () => {
    const error = await failureOf(connect(bothBindings('http://a'), { version: '1.1' }));
    expect(error).toMatchObject({ code: 'NO_INTERFACE' });
  });

  it.each([
    [
      'none that it speaks',
      [at('http://a', 'GRPC'), at('http://b', 'JSONRPC', '0.3')],
      'GRPC 1.0, JSONRPC 0.3',
    ],
    ['none with a URL', [at('nowhere', 'JSONRPC'), at('', 'HTTP+JSON')], 'none'],
    ['nonsense', [null, 7, {}, []] as unknown as AgentCard['supportedInterfaces'], 'none'],
  ])('says what there is when the card lists %s', async (_, interfaces, listed) => {
    const error = await failureOf(connect(cardOf(interfaces)));
    expect(error).toMatchObject({ code: 'NO_INTERFACE' });
    expect(error.message).toContain(listed);
  });
});

describe('falling back', () => {
  const get = { id: 't-1' };

  it('tries the next interface when one cannot be reached, and stays with it [R-BIND-02]', async () => {
    const { url, calls } = await peer(({ result }) => result(taskIn('WORKING')));
    const dead = `http://127.0.0.1:${await freePort()}`;
    const agent = await connect(cardOf([at(dead, 'JSONRPC'), at(url, 'HTTP+JSON')]));
    expect(await agent.getTask(get)).toMatchObject({ id: 't-1' });
    expect(agent.interface.url).toBe(url);
    await agent.getTask(get);
    expect(calls).toHaveLength(2);
  });

  it('sends a message to another interface when no server listened, because none can have received it [R-BIND-02]', async () => {
    const { url } = await peer(({ result }) => result({ task: taskIn('COMPLETED') }));
    const dead = `http://127.0.0.1:${await freePort()}`;
    const agent = await connect(cardOf([at(dead, 'JSONRPC'), at(url, 'JSONRPC')]));
    expect((await agent.send('hello')).task?.id).toBe('t-1');
  });

  it('does not send a message elsewhere when it may have been received', async () => {
    const first = await peer(({ destroy }) => destroy());
    const second = await peer(({ result }) => result({ task: taskIn('COMPLETED') }));
    const agent = await connect(cardOf([at(first.url, 'JSONRPC'), at(second.url, 'JSONRPC')]));
    expect((await failureOf(agent.send('hello'))).code).toBe('NETWORK');
    expect([first.calls.length, second.calls.length]).toEqual([1, 0]);
  });

  it('tries the next interface when one does not speak the version that the card says [R-VER-07]', async () => {
    const { A2AError } = await import('@batonjs/protocol/errors');
    const first = await peer(({ error }) => error(new A2AError('VERSION_NOT_SUPPORTED')));
    const second = await peer(({ result }) => result({ task: taskIn('COMPLETED') }));
    const agent = await connect(cardOf([at(first.url, 'JSONRPC'), at(second.url, 'JSONRPC')]));
    expect((await agent.send('hello')).task?.id).toBe('t-1');
  });

  it('tries all of them again after a pause', async () => {
    let failures = 1;
    const first = await peer(({ destroy, result }) =>
      failures-- > 0 ? destroy() : result(taskIn('WORKING')),
    );
    const second = await peer(({ destroy }) => destroy());
    const card = cardOf([at(first.url, 'JSONRPC'), at(second.url, 'JSONRPC')]);
    const agent = await connect(card, { retry: { firstMs: 1 } });
    expect((await agent.getTask(get)).id).toBe('t-1');
    expect([first.calls.length, second.calls.length]).toEqual([2, 2]);
  });

  it('can be turned off [R-VER-07]', async () => {
    const { url, calls } = await peer(({ result }) => result(taskIn('WORKING')));
    const dead = `http://127.0.0.1:${await freePort()}`;
    const card = cardOf([at(dead, 'JSONRPC'), at(url, 'HTTP+JSON')]);
    const agent = await connect(card, { fallback: false, retry: false });
    expect((await failureOf(agent.getTask(get))).code).toBe('NETWORK');
    expect(calls).toEqual([]);
  });

  it('says so when no interface can be reached', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const card = cardOf([at(dead, 'JSONRPC'), at(dead, 'HTTP+JSON')]);
    const agent = await connect(card, { retry: false });
    expect((await failureOf(agent.getTask(get))).code).toBe('NETWORK');
  });
});
