import type { AgentCard } from '@batonjs/protocol';
import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { AgentLink, inspected, summaryOf } from '../../src/agents/inspected.ts';
import { Inspection, isAllowed } from '../../src/inspection.ts';
import type { InspectedAgent } from '../../src/options.ts';

const serverOf = (more: object = {}) =>
  closedAfterTest(
    createAgentServer({
      card: { name: 'My Agent!', description: 'Helps' },
      agent: () => reply('x'),
      store: memoryStore(),
      logger: () => {},
      ...more,
    }),
  );

const found = (options: InspectedAgent, ...taken: string[]) => inspected(options, (id) => taken.includes(id));

describe('an agent that is shown', () => {
  it.each<[string, InspectedAgent, string, string, string | undefined]>([
    [
      'its address',
      { url: 'http://a.example:1/agents/b/' },
      'b-at-a-example-1',
      'b at a.example:1',
      'http://a.example:1/agents/b/',
    ],
    [
      'the address of its card',
      { url: 'https://a.example/b/.well-known/agent-card.json' },
      'b-at-a-example',
      'b at a.example',
      'https://a.example/b/.well-known/agent-card.json',
    ],
    ['the address of a host', { url: 'https://a.example' }, 'a-example', 'a.example', 'https://a.example'],
    ['its name and address', { name: 'Ä', url: 'https://a.example' }, '-', 'Ä', 'https://a.example'],
    ['no letters', { name: '', url: 'https://a.example' }, 'agent', '', 'https://a.example'],
    ['its store', { name: 'Kept', store: memoryStore() }, 'kept', 'Kept', undefined],
  ])('is named by %s', (_what, options, id, name, url) => {
    const agent = found(options);
    expect([agent.id, agent.name, agent.link?.url]).toEqual([id, name, url]);
    expect(found(options, id, `${id}-2`).id).toBe(`${id}-3`);
  });

  it('has what its server knows', () => {
    const server = serverOf({ name: 'queue', publicUrl: 'https://a.example/x' });
    const agent = found({ server });
    expect([agent.id, agent.name, agent.description, agent.link?.url]).toEqual([
      'queue',
      'My Agent!',
      'Helps',
      'https://a.example/x',
    ]);
    expect([agent.store?.queue, agent.store?.webhooks === agent.store?.tasks]).toEqual(['queue', true]);
    expect(found({ server, url: 'http://b.example', name: 'Mine' })).toMatchObject({
      id: 'mine',
      store: { queue: 'queue' },
    });
    expect(found({ server, url: 'http://b.example' }).link?.url).toBe('http://b.example');
    expect(found({ server: serverOf({ name: 'A b' }) }).link?.url).toBe('http://a-b.localhost');
    const own = memoryStore();
    expect(found({ server, store: own }).store?.tasks).toBe(own);
  });

  it('has the scopes that it is given, each with a name', () => {
    const { store } = found({
      name: 'x',
      store: { ...memoryStore(), listPushConfigs: undefined } as never,
      callers: [{}, { label: 'Mine', caller: 'a' }, { tenant: 't' }, { caller: 'a', tenant: 't' }],
    });
    expect(store?.scopes.map(({ label }) => label)).toEqual(['anonymous callers', 'Mine', 't', 'a at t']);
    expect(store?.scopes.map(({ label: _, scope: __, ...given }) => given)).toEqual([
      {},
      { caller: 'a' },
      { tenant: 't' },
      { caller: 'a', tenant: 't' },
    ]);
    expect([new Set(store?.scopes.map(({ scope }) => scope)).size, store?.webhooks, store?.queue]).toEqual([
      4,
      undefined,
      'x',
    ]);
  });

  it.each([{}, { store: memoryStore() }])('needs something to be found by', (options) => {
    expect(() => found(options)).toThrow(
      new TypeError('An agent to inspect needs `url`, `server`, or `store` with `name`'),
    );
  });

  it('is summed up', () => {
    const agent = found({ name: 'x', url: 'http://a.example' });
    const summary = {
      id: 'x',
      name: 'x',
      url: 'http://a.example',
      canCall: true,
      hasStore: false,
      hasServer: false,
      scopes: [],
    };
    expect(summaryOf(agent)).toEqual(summary);
    expect(summaryOf({ ...agent, description: '', problem: '' })).toEqual({
      ...summary,
      description: '',
      problem: '',
    });
    expect(summaryOf(found({ name: 'x', store: memoryStore() }))).toEqual({
      id: 'x',
      name: 'x',
      canCall: false,
      hasStore: true,
      hasServer: false,
      scopes: ['anonymous callers'],
    });
  });
});

describe('all agents', () => {
  it('have ids of their own, and are introduced once', async () => {
    const asked: string[] = [];
    const answering = (name: string, status = 200) =>
      listen((_, response) => {
        asked.push(name);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            name,
            description: `About ${name}`,
            supportedInterfaces: [{ url: 'http://a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
            skills: [],
          }),
        );
      });
    const [one, broken] = [await answering('one'), await answering('broken', 400)];
    const inspection = new Inspection([
      { name: 'x', url: one },
      { name: 'x', url: broken, connect: { retry: false } },
      { name: 'x', store: memoryStore() },
    ]);
    expect(inspection.agents.map(({ id }) => id)).toEqual(['x', 'x-2', 'x-3']);
    await inspection.introduce();
    await expect.poll(() => inspection.agents.map(({ name }) => name)).toEqual(['one', 'x', 'x']);
    expect(inspection.agents.map(({ description }) => description)).toEqual([
      'About one',
      undefined,
      undefined,
    ]);
    await expect.poll(() => inspection.agent('x-2').problem).toMatch(/./);
    const before = asked.length;
    await inspection.introduce();
    expect(asked).toHaveLength(before);
    expect([inspection.agent('x').recordings, inspection.agent('x-3').recordings].map(Boolean)).toEqual([
      true,
      false,
    ]);
    expect(() => inspection.agent(undefined)).toThrow('The inspector knows no agent undefined');
    inspection.close();
  });

  it('have no credential in what is shown, however it is written', () => {
    const headers = { 'x-one': 'abcdefgh', 'x-two': 'Bearer abcdefgh-and-more', cookie: 'a="quoted-text"' };
    const inspection = new Inspection([
      { url: 'http://a.example', connect: { headers } },
      { url: 'http://b.example', connect: { headers: { 'x-key': 'another-one', accept: 'text/plain' } } },
      { url: 'http://c.example' },
    ]);
    const shown = JSON.stringify([
      'abcdefgh-and-more, abcdefgh',
      'a="quoted-text"',
      'another-one',
      'text/plain',
    ]);
    expect(JSON.parse(inspection.hide(shown))).toEqual(['…, …', '…', '…', 'text/plain']);
  });

  it('have servers that run here, where they can be called', () => {
    const server = serverOf({ name: 'near' });
    const inspection = new Inspection([
      { server },
      { url: 'http://a.example' },
      { name: 'x', store: memoryStore() },
    ]);
    expect(inspection.servers).toEqual([{ id: 'near', server, url: 'http://near.localhost' }]);
  });

  it('do what a viewer may', async () => {
    expect(await isAllowed({}, 'send', {})).toBe(false);
    expect(await isAllowed({ may: ['cancel'] }, 'send', {})).toBe(false);
    expect(await isAllowed({ may: ['send'] }, 'send', {})).toBe(true);
    expect(
      await isAllowed({ may: async (action, { agent }) => action === 'send' && agent === 'x' }, 'send', {
        agent: 'x',
      }),
    ).toBe(true);
    expect(await isAllowed({ may: () => 'yes' as never }, 'send', {})).toBe(false);
  });
});

describe('the connection to an agent', () => {
  it('stays in this process for what is below its address, and nothing else', async () => {
    const server = serverOf();
    const far = await listen((_, response) => void response.end('far'));
    for (const url of [
      'http://a.localhost',
      'http://a.localhost/x',
      'http://a.localhost/x/',
      'http://a.localhost/x//',
    ]) {
      const link = new AgentLink(url, { server });
      const { card } = await link.client();
      expect([card.name, (link.raw as AgentCard).name]).toEqual(['My Agent!', 'My Agent!']);
      expect(card.supportedInterfaces[0]!.url).toMatch(new RegExp(`^${url.replace(/\/+$/, '')}(/|$)`));
      const client = await link.client();
      expect(await link.client()).toBe(client);
      expect((await (await link.client()).send('x')).message?.parts).toMatchObject([{ text: 'x' }]);
    }
    const outside = new AgentLink(far, { server: undefined });
    await expect(outside.client()).rejects.toThrow();
    expect(outside.wire.exchanges[0]!.responseBody).toBe('far');
  });

  it('leaves this process for interfaces of the card that are elsewhere', async () => {
    const asked: string[] = [];
    const far = await listen((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(503).end();
    });
    const at = (url: string) => ({ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' });
    const server = serverOf({
      card: { name: 'Elsewhere', description: 'Helps', supportedInterfaces: [at(`${far}/x/rpc`)] },
    });
    const link = new AgentLink('http://a.localhost/x', { server, connect: { retry: false } });
    const client = await link.client();
    await expect(client.send('x')).rejects.toThrow();
    expect(asked).toEqual(['POST /x/rpc']);
    const beside = new AgentLink(`${far}/x`, { server, connect: { retry: false } });
    expect((await beside.client()).card.name).toBe('Elsewhere');
    const other = serverOf({
      card: { name: 'Elsewhere', description: 'Helps', supportedInterfaces: [at(`${far}/xy`)] },
    });
    const near = new AgentLink(`${far}/x`, { server: other, connect: { retry: false } });
    await expect((await near.client()).send('x')).rejects.toThrow();
    expect(asked).toEqual(['POST /x/rpc', 'POST /xy']);
  });

  it('is made again after it failed, and for another interface', async () => {
    let isUp = false;
    const server = serverOf();
    const handle: typeof server.handle = async (exchange) => {
      if (!isUp) throw new Error('Not now');
      return server.handle(exchange);
    };
    const link = new AgentLink('http://a.localhost', {
      server: { ...server, handle },
      connect: { retry: false },
    });
    await expect(link.client()).rejects.toThrow();
    isUp = true;
    const client = await link.client();
    expect(client.interface.protocolBinding).toBe('JSONRPC');
    link.use({ binding: 'HTTP+JSON', version: '1.0' });
    expect((await link.client()).interface.protocolBinding).toBe('HTTP+JSON');
    link.use(undefined);
    expect((await link.client()).interface.protocolBinding).toBe('JSONRPC');
  });
});
