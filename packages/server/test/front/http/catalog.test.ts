import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CatalogAgent, type CatalogOptions, catalogOf } from '../../../src/index.ts';

const agents = [
  { name: 'expenses', url: '/agents/expenses/' },
  { name: 'weather', url: 'https://weather.example/a2a' },
];
const ai = '/.well-known/ai-catalog.json';
const api = '/.well-known/api-catalog';

const ask = (path: string, options?: CatalogOptions, init?: RequestInit) =>
  catalogOf(agents, options).fetch(new Request(`http://localhost${path}`, init));

describe('the catalog of an origin', () => {
  it('lists cards by the names of AI Catalog 0.9, and the same agents for RFC 9727', async () => {
    const cards = [
      'http://localhost/agents/expenses/.well-known/agent-card.json',
      'https://weather.example/a2a/.well-known/agent-card.json',
    ];
    const catalog = await ask(ai, { publisher: 'corp.example' });
    expect(catalog.headers.get('content-type')).toBe('application/ai-catalog+json');
    expect(await catalog.json()).toEqual({
      specVersion: '0.9',
      entries: ['expenses', 'weather'].map((name, n) => ({
        identifier: `urn:air:corp.example:a2a:${name}`,
        type: 'application/a2a-agent-card+json',
        url: cards[n],
      })),
    });
    const links = await ask(api);
    expect(links.headers.get('content-type')).toContain('application/linkset+json; profile=');
    const { linkset } = (await links.json()) as { linkset: { anchor: string; 'service-desc'?: object }[] };
    expect(linkset.map(({ anchor }) => anchor)).toEqual([
      `http://localhost${api}`,
      'http://localhost/agents/expenses',
      'https://weather.example/a2a',
    ]);
    expect(linkset[1]!['service-desc']).toEqual([{ href: cards[0], type: 'application/json' }]);
  });

  it.each([ai, api])('has an ETag, a HEAD, and its links at %s', async (path) => {
    const whole = await ask(path);
    const etag = whole.headers.get('etag')!;
    expect(whole.headers.get('cache-control')).toBe('public, max-age=60');
    expect(whole.headers.get('access-control-allow-origin')).toBe('*');
    expect(whole.headers.get('link')).toContain('rel="api-catalog"');
    const head = await ask(path, {}, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
    expect((await ask(path, {}, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('is that of its caller, and kept by no cache for another one', async () => {
    const options: CatalogOptions = {
      authenticate: ({ headers }) => (headers.authorization ? { scope: headers.authorization } : undefined),
      shows: ({ name }, caller) => caller?.scope === 'all' || name === 'weather',
    };
    const { fetch } = catalogOf(agents, options);
    const count = async (authorization: string) => {
      const answer = await fetch(new Request(`http://localhost${ai}`, { headers: { authorization } }));
      expect(answer.headers.get('cache-control')).toBe('private, no-cache');
      expect(answer.headers.get('vary')).toContain('authorization, cookie');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      return ((await answer.json()) as { entries: object[] }).entries.length;
    };
    expect([await count('all'), await count('some'), await count('all')]).toEqual([2, 1, 2]);
    expect((await ask(ai, options)).status).toBe(401);
  });

  it('is made once, however large it is and however often it is read', async () => {
    let reads = 0;
    const many = Array.from({ length: 200 }, (_, n) => ({
      name: `agent-${n}`,
      get url() {
        reads += 1;
        return `/agents/${n}`;
      },
    }));
    const { fetch } = catalogOf(many);
    for (let n = 0; n < 5; n++) await (await fetch(new Request(`http://localhost${ai}`))).text();
    expect(reads).toBe(200);
  });

  it.each([
    ['another path', '/.well-known/other.json', {}, 404],
    ['a POST', ai, { method: 'POST' }, 405],
  ])('refuses %s', async (_, path, init, status) => {
    const answer = await ask(path, {}, init);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'no-store']);
    expect(answer.headers.get('allow')).toBe(status === 405 ? 'GET, HEAD' : null);
    expect(await answer.json()).toEqual({ error: { code: status, message: expect.any(String) } });
  });

  it('keeps to itself what its hook threw, and logs it', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => logged.mockRestore());
    const authenticate = () => {
      throw new Error('The database of callers is away');
    };
    const answer = await ask(ai, { authenticate });
    expect(await answer.json()).toEqual({ error: { code: 500, message: 'Internal error' } });
    expect(String(logged.mock.calls[0]?.[1]?.error)).toContain('The database of callers is away');
    expect(logged.mock.calls[0]?.[1]).toMatchObject({ path: ai });
  });

  it('says of an agent what it is told to, and nothing else', async () => {
    const { fetch } = catalogOf([{ ...agents[0]!, description: 'Pays' }, agents[1]!]);
    const { entries } = (await (await fetch(new Request(`http://localhost${ai}`))).json()) as {
      entries: { description?: string }[];
    };
    expect(entries.map(({ description }) => description)).toEqual(['Pays', undefined]);
  });

  it('believes no host of a request that is not this machine, and needs its address there', async () => {
    const { fetch } = catalogOf(agents);
    const refused = await fetch(new Request(`https://corp.example${ai}`));
    expect(refused.status).toBe(500);
    expect(await refused.text()).toContain('The catalog needs its `publicUrl`');
    const known = catalogOf(agents, { publicUrl: 'https://corp.example' });
    for (const host of ['https://other.example', 'http://localhost']) {
      const answer = await known.fetch(new Request(host + ai));
      expect(await answer.text()).toContain('urn:air:corp.example:a2a:expenses');
    }
  });

  it.each<[CatalogAgent[]]>([
    [[{ name: '', url: '/' }]],
    [[{ name: 'a:b', url: '/' }]],
    [[agents[0]!, agents[0]!]],
  ])('takes no names like those of %j', (wrong) => {
    expect(() => catalogOf(wrong)).toThrow(TypeError);
  });
});
