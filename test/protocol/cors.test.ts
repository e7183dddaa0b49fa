import { apiKey } from '@batonjs/auth';
import { type AgentServerOptions, completed } from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../kit/rpc.ts';
import { everywhereOverHttp, type Peer } from './peer.ts';

const done = async function* () {
  yield completed('Done');
};
const origin = 'https://app.example';
const card = '/.well-known/agent-card.json';
const json = { 'content-type': 'application/json', 'a2a-version': '1.0' };

/** What a browser may do with an answer. */
const allowedBy = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

const preflight = ({ fetch }: Peer, path: string, more: Record<string, string> = {}) =>
  fetch(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, last-event-id',
      ...more,
    },
  });

const paths = [
  '',
  '/message:send',
  '/message:stream',
  '/tasks',
  '/tasks/x',
  '/tasks/x:subscribe',
  '/extendedAgentCard',
  card,
];

everywhereOverHttp('CORS', (serve) => {
  it('is off: pages of other origins may read the card, and nothing else [R-CARD-08]', async () => {
    const peer = await serve(done);
    for (const path of paths.slice(0, -1)) {
      const refused = await preflight(peer, path);
      expect(refused.ok).toBe(false);
      expect(allowedBy(refused)).toEqual({});
      expect(allowedBy(await peer.fetch(path, { headers: { origin, ...json } }))).toEqual({});
    }
    expect(allowedBy(await peer.fetch(card, { headers: { origin } }))).toMatchObject({
      'access-control-allow-origin': '*',
    });
    // A client says which version it speaks, which a browser asks permission for.
    const allowed = await preflight(peer, card, { 'access-control-request-method': 'GET' });
    expect(allowed.status).toBe(204);
    expect(allowedBy(allowed)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': expect.stringContaining('a2a-version'),
    });
  });

  it('that is on lets every page call everything, with the headers that clients need', async () => {
    const authenticate = apiKey({ header: 'X-API-Key', keys: new Map() });
    const peer = await serve(done, { cors: true, authenticate });
    for (const path of paths) {
      const response = await preflight(peer, path);
      expect([response.status, await response.text()]).toEqual([204, '']);
      const allowed = allowedBy(response);
      expect(allowed['access-control-allow-origin']).toBe('*');
      expect(allowed['access-control-max-age']).toBe('600');
      expect(allowed).not.toHaveProperty('access-control-allow-credentials');
      const names = allowed['access-control-allow-headers']?.split(', ');
      expect(names).toEqual(
        expect.arrayContaining([
          'a2a-extensions',
          'a2a-version',
          'authorization',
          'content-type',
          'last-event-id',
          'x-api-key',
        ]),
      );
    }
  });

  it('lets pages read answers, refusals and streams, with the headers that clients read', async () => {
    const peer = await serve(done, { cors: true });
    const isRpc = peer.binding === 'JSONRPC';
    const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const message = say('go');
    const post = (path: string, body: string, headers: Record<string, string> = json) =>
      peer.fetch(path, { method: 'POST', headers: { origin, ...headers }, body });
    const stream = isRpc
      ? await post('', rpc('SendStreamingMessage', { message }))
      : await post('/message:stream', JSON.stringify({ message }));
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const responses = [
      stream,
      isRpc
        ? await post('', rpc('ListTasks', {}))
        : await peer.fetch('/tasks', { headers: { origin, ...json } }),
      isRpc
        ? await post('', rpc('Nothing', {}))
        : await peer.fetch('/nothing', { headers: { origin, ...json } }),
      await post(isRpc ? '' : '/message:send', '{', json),
      await post(isRpc ? '' : '/message:send', '{}', { 'content-type': 'text/plain' }),
      await peer.fetch(card, { headers: { origin } }),
      await peer.fetch('/tasks', { method: 'PUT', headers: { origin } }),
    ];
    for (const response of responses) {
      const allowed = allowedBy(response);
      expect(allowed['access-control-allow-origin']).toBe('*');
      const exposed = allowed['access-control-expose-headers']?.split(', ');
      expect(exposed).toEqual(
        expect.arrayContaining(['a2a-extensions', 'etag', 'retry-after', 'www-authenticate']),
      );
      await response.text();
    }
  });

  it.each<[string, Exclude<AgentServerOptions['cors'], boolean | undefined>]>([
    ['listed', { origins: [origin, 'https://other.example'] }],
    ['chosen', { origins: (one) => one === origin }],
    ['listed, with their cookies', { origins: [origin], credentials: true }],
  ])('is for the origins that are %s', async (_, cors) => {
    const peer = await serve(done, { cors: { ...cors, headers: ['X-Trace'] } });
    for (const path of paths) {
      const allowed = await preflight(peer, path);
      expect(allowedBy(allowed)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-max-age': '600',
        'access-control-allow-headers': expect.stringContaining('x-trace'),
      });
      expect(allowed.headers.get('access-control-allow-credentials')).toBe(cors.credentials ? 'true' : null);
      for (const other of ['https://evil.example', `${origin}.evil.example`, 'null', '*']) {
        const refused = await preflight(peer, path, { origin: other });
        expect(refused.headers.get('access-control-allow-origin')).toBeNull();
        const reply = await peer.fetch(path, { headers: { origin: other, ...json } });
        expect(reply.headers.get('access-control-allow-origin')).toBeNull();
        // Or a cache would show one origin the reply to another.
        expect(reply.headers.get('vary')).toMatch(/\bOrigin\b/);
      }
    }
    expect((await peer.fetch(card, { headers: { origin } })).headers.get('vary')).toBe('A2A-Version, Origin');
  });

  it('does not answer for others: OPTIONS without a question is a method like any other', async () => {
    const { fetch } = await serve(done, { cors: true });
    const response = await fetch('/tasks', { method: 'OPTIONS', headers: { origin } });
    expect(response.status).toBe(405);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});
