import { agentsOf, type CataloguedAgent, type ConnectOptions, connect } from '@batonjs/client';
import { catalogOf, completed, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../serve.ts';

const host = 'https://corp.example';
const wellKnown = '/.well-known/ai-catalog.json';

/** A `fetch` that answers these addresses with JSON or text, and what it was asked. */
function answering(answers: Readonly<Record<string, unknown>>) {
  const asked: Request[] = [];
  const fetch = async (request: Request) => {
    asked.push(request);
    const answer = answers[request.url.replace(host, '')];
    if (answer === undefined) return new Response('Not found', { status: 404 });
    return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
  return { asked, options: { fetch, retry: { attempts: 1 } } satisfies ConnectOptions };
}

const entry = (name: string, more: object = {}) => ({
  identifier: `urn:air:corp.example:a2a:${name}`,
  type: 'application/a2a-agent-card+json',
  url: `/agents/${name}/card.json`,
  ...more,
});
const catalog = (entries: unknown, more: object = {}) => ({ specVersion: '0.9', entries, ...more });
const nested = (more: object) => ({ identifier: 'urn:x', type: 'application/ai-catalog+json', ...more });
/** Catalogs in catalogs, so deep. */
const deep = (levels: number): object =>
  levels === 1 ? catalog([entry('deepest')]) : catalog([nested({ data: deep(levels - 1) })]);

const read = async (answer: unknown, others: object = {}) => {
  const { options, asked } = answering({ [wellKnown]: answer, ...others });
  const agents = await agentsOf(host, options);
  const of = <Name extends keyof CataloguedAgent>(name: Name) => agents.map((agent) => agent[name]);
  return { names: of('name'), cards: of('card'), descriptions: of('description'), asked };
};

describe('the agents of a host', () => {
  it.each(['0.9', '1.0', '1.2'])(
    'are those of its catalog of version %s, with nested ones',
    async (specVersion) => {
      const entries = [
        entry('a', { description: 'The first' }),
        entry('b', { url: undefined, data: { name: 'B', description: 'The second' } }),
        nested({ url: '/more.json' }),
        { identifier: 'urn:x', type: 'application/mcp-server-card+json', url: '/mcp.json' },
      ];
      const inside = catalog([entry('c', { displayName: 'The third' })]);
      const { names, cards, descriptions } = await read(catalog(entries, { specVersion }), {
        '/more.json': inside,
      });
      expect(names).toEqual(['a', 'B', 'The third']);
      expect(descriptions).toEqual(['The first', 'The second', undefined]);
      expect(cards).toMatchObject([
        `${host}/agents/a/card.json`,
        { name: 'B' },
        `${host}/agents/c/card.json`,
      ]);
    },
  );

  it.each<[string, unknown, string]>([
    ['no JSON', '<html>', 'is no AI Catalog 0.9 or 1'],
    ['null', null, 'is no AI Catalog 0.9 or 1'],
    ['entries that are no list', catalog({}), 'is no AI Catalog 0.9 or 1'],
    ['a version that is unknown', catalog([], { specVersion: '2.0' }), 'is no AI Catalog 0.9 or 1'],
    ['a version that begins alike', catalog([], { specVersion: '0.95' }), 'is no AI Catalog 0.9 or 1'],
    ['a version that ends alike', catalog([], { specVersion: '10.9' }), 'is no AI Catalog 0.9 or 1'],
    ['no version', { entries: [] }, 'is no AI Catalog 0.9 or 1'],
    ['too many entries', catalog(Array.from({ length: 1_001 }, () => ({}))), 'more than 1,000 entries'],
    [
      'a nested one that is none',
      catalog([nested({ url: '/x.json' })]),
      '("Not found") and is no AI Catalog',
    ],
    ['more than a megabyte', catalog([entry('a', { x: 'x'.repeat(1_100_000) })]), '1048576'],
  ])('are refused with a reason: %s', async (_, answer, reason) => {
    expect(String(await failureOf(read(answer)))).toContain(reason);
  });

  it.each([
    ['https://other.example/card.json', true],
    ['https://172.32.0.1/card.json', true],
    ['http://corp.example/card.json', false],
    ['http://other.example/card.json', false],
    ['https://localhost/card.json', false],
    ['https://2130706433/card.json', false],
    ['https://10.0.0.1/card.json', false],
    ['https://172.16.0.1/card.json', false],
    ['https://192.168.0.1/card.json', false],
    ['https://169.254.169.254/latest', false],
    ['https://[::1]/card.json', false],
    ['https://[fd00::1]/card.json', false],
    ['https://[::ffff:10.0.0.1]/card.json', false],
    ['file:///etc/passwd', false],
    ['data:application/json,{}', false],
    ['//', false],
  ])('have addresses that a stranger may name: %s', async (url, isTaken) => {
    expect((await read(catalog([entry('a', { url })]))).cards).toEqual(isTaken ? [url] : []);
  });

  it('are not read where a redirect leads to an address that a stranger may not name', async () => {
    for (const [url, isRead] of [
      ['https://10.0.0.1/catalog.json', false],
      ['https://other.example/catalog.json', true],
    ] as const) {
      const answer = Response.json(catalog([entry('a')]));
      Object.defineProperty(answer, 'url', { value: url });
      const read = agentsOf(host, { fetch: async () => answer, retry: { attempts: 1 } });
      if (isRead) expect(await read).toMatchObject([{ card: 'https://other.example/agents/a/card.json' }]);
      else expect(String(await failureOf(read))).toContain('is no AI Catalog');
    }
  });

  it('end at the fourth level, at a cycle, and after sixteen catalogs', async () => {
    expect((await read(deep(4))).names).toEqual(['deepest']);
    expect((await read(deep(5))).names).toEqual([]);
    expect((await read(catalog([entry('a'), nested({ url: wellKnown })]))).asked).toHaveLength(1);
    const urls = Array.from({ length: 30 }, (_, n) => `/${n}.json`);
    const many = Object.fromEntries(urls.map((url) => [url, catalog([entry('x')])]));
    expect((await read(catalog(urls.map((url) => nested({ url }))), many)).asked).toHaveLength(16);
  });
});

describe('a client of an origin without a card', () => {
  /** Serves two agents, and a catalog with those of these names. */
  function serveTwo(names: readonly string[]) {
    const servers = new Map(
      ['a', 'b'].map((name) => {
        const agent = async function* () {
          yield completed(`From ${name}`);
        };
        const card = { name, description: name };
        return [name, createAgentServer({ card, agent, store: memoryStore(), publicUrl: `${host}/${name}` })];
      }),
    );
    onTestFinished(async () => {
      for (const server of servers.values()) await server.close({ graceMs: 0 });
    });
    const listed = catalogOf(
      names.map((name) => ({ name, url: `/${name}` })),
      { publicUrl: host },
    );
    const fetch = (request: Request) =>
      (servers.get(new URL(request.url).pathname.split('/')[1]!) ?? listed).fetch(request);
    return { fetch };
  }

  it('takes the one agent of its catalog', async () => {
    const agent = await connect(host, serveTwo(['a']));
    expect((await agent.send('go')).task?.status.message?.parts).toEqual([{ text: 'From a' }]);
  });

  it('is told of several, and keeps the error of the card where there is none', async () => {
    const card = (name: string) => `${name} (${host}/${name}/.well-known/agent-card.json)`;
    expect(await failureOf(connect(host, serveTwo(['a', 'b'])))).toMatchObject({
      code: 'INVALID_CARD',
      message: `${host} has no card, but lists 2 agents: connect to one of ${card('a')}, ${card('b')}`,
    });
    for (const wrong of [connect(host, serveTwo([])), connect(`${host}/none`, serveTwo(['a']))])
      expect(String(await failureOf(wrong))).toContain('answers 404');
  });

  it('checks a card that the catalog has in it', async () => {
    const { options } = answering({ [wellKnown]: catalog([entry('a', { url: undefined, data: {} })]) });
    const checked = connect(host, { ...options, verifyCard: () => false });
    expect(await failureOf(checked)).toMatchObject({ code: 'UNTRUSTED_CARD' });
  });

  it('sends its headers to the host alone', async () => {
    const { options, asked } = answering({
      [wellKnown]: catalog([entry('a', { url: 'https://other.example/card.json' })]),
    });
    await failureOf(connect(host, { ...options, headers: { authorization: 'Bearer secret' } }));
    expect(asked.map(({ url, headers }) => [new URL(url).host, headers.has('authorization')])).toEqual([
      ['corp.example', true],
      ['corp.example', true],
      ['other.example', false],
    ]);
  });
});
