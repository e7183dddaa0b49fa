import { StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { begin, hour, post, serveCallbacks, statusOf, waitingAgent } from './serve-callbacks.ts';

/** A callback that waits for its value. */
async function waiting(options: Parameters<typeof serveCallbacks>[1] = {}) {
  const { agent, seen, url } = waitingAgent();
  const served = serveCallbacks(agent, options);
  const id = await begin(served.server);
  return { ...served, seen, id, address: await url };
}

describe('a request to a callback', () => {
  it.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'])(
    'of method %s shows nothing and uses nothing up',
    async (method) => {
      const { server, address } = await waiting({ cors: true });
      for (const url of [address, `${address}x`]) {
        const response = await server.fetch(
          new Request(url, { method, headers: { origin: 'https://a.example' } }),
        );
        const headers = Object.fromEntries(response.headers);
        expect(response.status).toBe(405);
        expect(headers).toMatchObject({ allow: 'POST', 'cache-control': 'no-store' });
        expect(headers['access-control-allow-origin']).toBeUndefined();
        expect(await response.text()).not.toContain(address.slice(-20));
      }
      expect(await statusOf(server, address, 1)).toBe(202);
    },
  );

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonp', 415],
    ['xapplication/json', 415],
    ['', 415],
    ['application/json', 202],
    ['Application/JSON; charset=utf-8', 202],
    ['application/json ;charset=utf-8', 202],
    ['application/vnd.github+json', 202],
  ])('with the content type %j is answered %i', async (type, status) => {
    const { server, address } = await waiting();
    expect(await statusOf(server, address, { a: 1 }, { headers: { 'content-type': type } })).toBe(status);
    if (status === 202) return;
    const refused = await post(server, address, 1, { headers: { 'content-type': type } });
    expect(refused.error).toBe('A callback takes application/json');
    expect(await statusOf(server, address, 1)).toBe(202);
  });

  it.each([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['deep nesting', `${'['.repeat(200)}${']'.repeat(200)}`, 400],
  ])('with %s is refused, and uses nothing up', async (_, body, status) => {
    const { server, address } = await waiting();
    const refused = await post(server, address, 0, { body });
    expect([refused.status, refused.error]).toEqual([
      status,
      body === '' ? 'The body is empty' : expect.any(String),
    ]);
    expect(await statusOf(server, address, 1)).toBe(202);
  });

  it('may be as large as `callbacks.bytes`, and no larger', async () => {
    for (const [callbacks, bytes] of [
      [true, 65_536],
      [{ bytes: 100 }, 100],
    ] as const) {
      const { server, address } = await waiting({ callbacks });
      const text = (length: number) => `"${'x'.repeat(length - 2)}"`;
      expect(await post(server, address, text(bytes + 1))).toMatchObject({
        status: 413,
        error: `The body is larger than ${bytes} bytes`,
      });
      expect(await statusOf(server, address, text(bytes))).toBe(202);
    }
  });

  it('compressed is refused', async () => {
    const { server, address } = await waiting();
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    expect(await statusOf(server, address, 1, { headers })).toBe(415);
  });

  it('above the rate is refused, until its time', async () => {
    const rate = { limit: 2, perMs: 60_000 };
    const { server, address, clock } = await waiting({ callbacks: { rate } });
    // Those that no key signed cost nothing, and do not count.
    for (let guess = 0; guess < 3; guess++) expect(await statusOf(server, `${address}x`, 1)).toBe(404);
    expect(await statusOf(server, address, 1)).toBe(202);
    expect(await statusOf(server, address, 1)).toBe(202);
    const refused = await post(server, address, 1);
    expect(refused).toMatchObject({ status: 429, error: 'Too many values' });
    expect(refused.headers.get('retry-after')).toBe('30');
    await clock.advance(30_000);
    expect(await statusOf(server, address, 1)).toBe(202);
  });

  it('is refused while the server closes, and may be sent again', async () => {
    const { server, address } = await waiting();
    await server.close({ graceMs: 0 });
    const refused = await post(server, address, 1);
    expect(refused).toMatchObject({ status: 503, error: 'The server is closing' });
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it('above the rate is refused to its address alone', async () => {
    const { server, address } = await waiting({ callbacks: { rate: { limit: 1, perMs: hour } } });
    const from = async (remoteAddress: string) => {
      const { status } = await server.handle({
        method: 'POST',
        path: new URL(address).pathname.slice('/agent'.length),
        query: new URLSearchParams(),
        headers: { 'content-type': 'application/json' },
        readBody: async () => ({ value: 1 }),
        signal: new AbortController().signal,
        remoteAddress,
      });
      return status;
    };
    const [first, second] = ['192.0.2.1', '192.0.2.2'];
    expect([await from(first), await from(first), await from(second)]).toEqual([202, 429, 202]);
  });

  it('needs no login, where all else does, and counts for no caller', async () => {
    const { agent, url } = waitingAgent();
    const { server } = serveCallbacks(agent, {
      authenticate: ({ headers }) => (headers.authorization ? { scope: 'me' } : undefined),
      limits: { callers: { requests: { limit: 1, perMs: hour } } },
    });
    const message = { message: say('go'), configuration: { returnImmediately: true } };
    await expect(rpc(server, 'SendMessage', message)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    await rpc(server, 'SendMessage', message, { authorization: 'me' });
    const address = await url;
    for (let n = 0; n < 3; n++) expect(await statusOf(server, address, 1)).toBe(202);
  });

  it('that a middleware refused is answered with its status', async () => {
    const { A2AError } = await import('../../src/index.ts');
    const { server, address } = await waiting();
    const refusal = new A2AError('RESOURCE_EXHAUSTED', 'Slow down', { retryAfter: 7 });
    const reply = await server.handle({
      method: 'POST',
      path: new URL(address).pathname.slice('/agent'.length),
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json', 'x-request-id': 'mine' },
      readBody: async () => ({ value: 1 }),
      signal: new AbortController().signal,
      refusal,
    });
    expect(reply).toEqual({
      status: 429,
      headers: {
        'content-type': 'application/json',
        'retry-after': '7',
        'x-request-id': 'mine',
        'cache-control': 'no-store',
      },
      body: JSON.stringify({ error: { code: 429, message: 'Slow down' } }),
    });
  });

  it('finds the callback also where the mount is not known', async () => {
    const { server, address } = await waiting({ publicUrl: 'http://localhost/' });
    const { pathname } = new URL(address);
    expect(await statusOf(server, `http://localhost/somewhere${pathname}`, 1)).toBe(202);
  });

  it('whose client leaves in the middle of it uses nothing up', async () => {
    const { server, address, logged } = await waiting();
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error('The client left'));
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
    const response = await server.fetch(new Request(address, init as RequestInit));
    expect(response.status).toBe(400);
    expect(JSON.stringify(logged)).not.toContain(address.slice(-40));
    expect(await statusOf(server, address, 1)).toBe(202);
  });

  it('is refused while the task is full', async () => {
    const { server, address } = await waiting({ limits: { factsPerTask: 6 } });
    const { status, error } = await post(server, address, 1);
    expect([status, error]).toEqual([429, expect.any(String)]);
  });

  it('is answered 503 while the store is away, and may be sent again', async () => {
    const { agent, url } = waitingAgent();
    let isAway = false;
    const store = change(memoryStore(), {
      load: (load) => (scope, taskId) =>
        isAway ? Promise.reject(new StoreError('UNAVAILABLE', 'Away')) : load(scope, taskId),
    });
    const { server, clock, logged } = serveCallbacks(agent, { store });
    await begin(server);
    const address = await url;
    await clock.advance(0);
    isAway = true;
    const refused = await post(server, address, 1);
    expect(refused).toMatchObject({ status: 503, error: 'Temporarily unavailable' });
    expect(refused.headers.get('retry-after')).toBe('1');
    const about = { requestId: expect.any(String), method: 'POST', path: '/callbacks/…' };
    expect(logged).toContainEqual([expect.any(String), expect.any(String), expect.objectContaining(about)]);
    expect(JSON.stringify(logged)).not.toContain(address.slice(-40));
    isAway = false;
    expect(await statusOf(server, address, 1)).toBe(202);
  });
});
