import type { IncomingMessage } from 'node:http';
import { connect } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { bothBindings, cardOf, collect, failureOf, serve, taskIn } from '../serve.ts';

const secret = { 'x-api-key': 'secret' };

/** Answers every call with a task or a redirect, and records the requests. */
async function recorder(redirect?: (request: IncomingMessage) => string | undefined, status = 307) {
  const received: { method: string | undefined; path: string | undefined; key: unknown; body: string }[] = [];
  const { url } = await serve((request, response, body) => {
    received.push({ method: request.method, path: request.url, key: request.headers['x-api-key'], body });
    const location = redirect?.(request);
    if (location) return response.writeHead(status, { location }).end();
    const task = request.url?.startsWith('/rest')
      ? taskIn('WORKING')
      : { jsonrpc: '2.0', id: 1, result: taskIn('WORKING') };
    return response.setHeader('content-type', 'application/json').end(JSON.stringify(task));
  });
  return { url, received, keys: () => received.map(({ key }) => key) };
}

/** An agent whose card lists interfaces of another origin. */
const cardServer = (interfaces: (url: string) => Parameters<typeof cardOf>[0]) =>
  serve((request, response) => {
    const url = `http://${request.headers.host}`;
    response.end(JSON.stringify(cardOf(interfaces(url))));
  });
const jsonRpc = (url: string) => ({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
const get = { id: 't-1' };

const transports = {
  'ky, in Node.js': undefined,
  'a fetch that is passed in': (request: Request) => fetch(request),
  'a fetch that never follows redirects itself': (request: Request) =>
    fetch(new Request(request, { redirect: 'manual' })),
} as const;
/** Hides redirects, as the fetch of a browser does. */
const opaque = async (request: Request) => {
  const response = await fetch(request);
  if (request.redirect !== 'manual' || !response.headers.has('location')) return response;
  return Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
};

describe('static headers [R-AUTH-03]', () => {
  it('go to the origin that was named, and to no other that its card names', async () => {
    const stranger = await recorder();
    const keys: unknown[] = [];
    const { url } = await serve((request, response) => {
      keys.push(request.headers['x-api-key']);
      response.end(JSON.stringify(cardOf([jsonRpc(`${stranger.url}/`)])));
    });
    const agent = await connect(url, { headers: secret });
    await agent.getTask(get);
    await agent.getTask(get, { headers: secret });
    expect(keys).toEqual(['secret']);
    expect(stranger.keys()).toEqual([undefined, undefined]);
  });

  it('go to interfaces of the same origin, and to origins that the caller trusts', async () => {
    const friend = await recorder();
    const { url } = await cardServer(() => [jsonRpc(`${friend.url}/rpc`)]);
    const agent = await connect(url, { headers: secret, trustedOrigins: [`${friend.url}/whatever`] });
    await agent.getTask(get);
    expect(friend.keys()).toEqual(['secret']);
    expect((await failureOf(connect(url, { trustedOrigins: ['example.com'] }))).code).toBe('INVALID_URL');
  });

  it('go to the interfaces of a card that was passed in', async () => {
    const { url, keys } = await recorder();
    await (await connect(bothBindings(url), { headers: secret })).getTask(get);
    expect(keys()).toEqual(['secret']);
  });

  it('do not go to an interface that only the extended card lists', async () => {
    const stranger = await recorder();
    const { url } = await serve((_, response) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: cardOf([jsonRpc(stranger.url)]) })),
    );
    const agent = await connect(bothBindings(url), { headers: secret });
    await agent.getExtendedAgentCard();
    await agent.getTask(get);
    expect(stranger.keys()).toEqual([undefined]);
  });

  it('that were not sent are named when an agent asks who calls', async () => {
    const { url: stranger } = await serve((_, response) => response.writeHead(401).end());
    const { url } = await cardServer(() => [jsonRpc(stranger)]);
    const agent = await connect(url, { headers: secret });
    const error = await failureOf(agent.getTask(get));
    expect(error.reason).toBe('UNAUTHENTICATED');
    expect(error.message).toContain(stranger);
    expect(error.message).toContain('trustedOrigins');
  });
});

describe.each(Object.entries(transports))('static headers on a redirect, with %s', (_, fetch) => {
  const options = { headers: secret, retry: false, binding: 'JSONRPC', ...(fetch && { fetch }) } as const;

  it('are dropped at another origin, and stay dropped on the way back', async () => {
    const home = await recorder(({ url }) => (url === '/rpc' ? `${stranger.url}/there` : undefined));
    const stranger = await recorder(({ url }) => (url === '/there' ? `${home.url}/back` : undefined));
    const agent = await connect(cardOf([jsonRpc(`${home.url}/rpc`)]), options);
    expect((await agent.getTask(get)).id).toBe('t-1');
    expect(home.received.map(({ path, key }) => [path, key])).toEqual([
      ['/rpc', 'secret'],
      ['/back', undefined],
    ]);
    expect(stranger.keys()).toEqual([undefined]);
    expect(home.received[1]?.body).toBe(home.received[0]?.body);
  });

  it('are dropped when a redirect of the card leads away', async () => {
    const stranger = await recorder();
    const home = await recorder(() => `${stranger.url}/card`, 302);
    await failureOf(connect(home.url, options));
    // The card, and the catalog in its place.
    expect([home.keys(), stranger.keys()]).toEqual([
      ['secret', 'secret'],
      [undefined, undefined],
    ]);
  });

  it('stay at the same origin', async () => {
    const home = await recorder(({ url }) => (url === '/rpc' ? '/moved' : undefined), 308);
    const agent = await connect(cardOf([jsonRpc(`${home.url}/rpc`)]), options);
    await agent.getTask(get);
    expect(home.received.map(({ method, path, key }) => [method, path, key])).toEqual([
      ['POST', '/rpc', 'secret'],
      ['POST', '/moved', 'secret'],
    ]);
  });

  it.each([
    [301, '/rpc', '/rpc/'],
    [302, '/rpc/?a=1', '/rpc?a=1'],
  ])('stay, with what was posted, where %i only spells %s as %s', async (status, path, spelled) => {
    const home = await recorder(({ url }) => (url === path ? spelled : undefined), status);
    const agent = await connect(
      cardOf([jsonRpc(`${home.url}${path}`)]),
      fetch ? { ...options, fetch } : { retry: false },
    );
    expect((await agent.getTask(get)).id).toBe('t-1');
    expect(home.received.map(({ method, path }) => [method, path])).toEqual([
      ['POST', path],
      ['POST', spelled],
    ]);
    expect(home.received[1]?.body).toBe(home.received[0]?.body);
  });

  it.each([301, 302, 303])('become those of a GET after %i, as everywhere', async (status) => {
    const home = await recorder(({ url }) => (url === '/rpc' ? '/moved' : undefined), status);
    const agent = await connect(cardOf([jsonRpc(`${home.url}/rpc`)]), options);
    await agent.getTask(get);
    expect(home.received[1]).toEqual({ method: 'GET', path: '/moved', key: 'secret', body: '' });
  });

  it.each([
    ['in circles', '/rpc', 'after 20 other redirects'],
    ['out of HTTP', 'file:///etc/passwd', 'no address of HTTP'],
    ['nowhere', 'http://', 'no address of HTTP'],
  ])('end with an error where they lead %s', async (_kind, location, message) => {
    const home = await recorder(() => location);
    const agent = await connect(cardOf([jsonRpc(`${home.url}/rpc`)]), options);
    const error = await failureOf(agent.getTask(get));
    expect(error).toMatchObject({ code: 'NETWORK' });
    expect(error.message).toContain(message);
  });

  it('are no matter where credentials are asked for, which follow no redirect', async () => {
    const stranger = await recorder();
    const home = await recorder(() => `${stranger.url}/`);
    const agent = await connect(cardOf([jsonRpc(`${home.url}/rpc`)]), {
      ...options,
      credentials: () => ({ authorization: 'Bearer 1' }),
    });
    const error = await failureOf(agent.getTask(get));
    expect(error.message).toContain('credentials do not follow redirects');
    expect(stranger.received).toEqual([]);
  });
});

describe('static headers where redirects cannot be seen, as in browsers', () => {
  it('are dropped before the redirect is followed', async () => {
    const stranger = await recorder();
    const home = await recorder(() => `${stranger.url}/there`);
    const agent = await connect(cardOf([jsonRpc(`${home.url}/rpc`)]), { headers: secret, fetch: opaque });
    expect((await agent.getTask(get)).id).toBe('t-1');
    expect([home.keys(), stranger.keys()]).toEqual([['secret', undefined], [undefined]]);
  });

  it('are dropped of streams as well', async () => {
    const stranger = await recorder();
    const home = await recorder(() => `${stranger.url}/rest`);
    const card = cardOf([{ ...jsonRpc(`${home.url}/rest`), protocolBinding: 'HTTP+JSON' }]);
    const agent = await connect(card, { headers: secret, fetch: opaque, retry: false });
    await collect(agent.subscribeToTask(get)).catch(() => {});
    expect(new Set(stranger.keys())).toEqual(new Set([undefined]));
    expect(stranger.received.length).toBeGreaterThan(0);
  });
});
