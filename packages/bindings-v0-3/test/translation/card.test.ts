import { connect } from '@batonjs/client';
import { AgentCard } from '@batonjs/protocol';
import { STATE_HISTORY } from '@batonjs/protocol/headers';
import { type CardInput, reply } from '@batonjs/server';
import { describe, expect, it, vi } from 'vitest';
import { translations, v03Client } from '../../src/index.ts';
import { ask, serve } from '../serve.ts';

const agent = () => reply('Hello');
const card: CardInput = {
  name: 'Both',
  description: 'Speaks two versions',
  capabilities: { extendedAgentCard: true },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'x-key' } },
    login: {
      oauth2SecurityScheme: {
        flows: { clientCredentials: { tokenUrl: 'https://login.example/token', scopes: { read: 'Reads' } } },
      },
    },
  },
  securityRequirements: [{ schemes: { key: { list: [] } } }, { schemes: { login: { list: ['read'] } } }],
  skills: [{ id: 'greet', name: 'Greet', description: 'Greets', securityRequirements: [] }],
};
const older = {
  protocolVersion: '0.3.0',
  url: 'http://localhost',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [{ url: 'http://localhost', transport: 'HTTP+JSON' }],
  supportsAuthenticatedExtendedCard: true,
  security: [{ key: [] }, { login: ['read'] }],
  securitySchemes: {
    key: { type: 'apiKey', in: 'header', name: 'x-key' },
    login: {
      type: 'oauth2',
      flows: { clientCredentials: { tokenUrl: 'https://login.example/token', scopes: { read: 'Reads' } } },
    },
  },
  skills: [{ id: 'greet', security: [] }],
};

async function read(server: ReturnType<typeof serve>, headers: Record<string, string> = {}) {
  const response = await server.fetch(
    new Request('http://localhost/.well-known/agent-card.json', { headers }),
  );
  expect(response.headers.get('vary')).toContain('A2A-Version');
  return { card: await response.json(), etag: response.headers.get('etag') };
}

describe('the card of a server of both versions', () => {
  it('is that of 1.0 for readers of 1.0, and lists what 0.3 is spoken at [R-V03-01] [R-VER-06]', async () => {
    const { card: read1 } = await read(serve({ agent, card }), { 'a2a-version': '1.0' });
    expect(read1).not.toHaveProperty('url');
    expect(AgentCard.parse(read1).supportedInterfaces).toEqual([
      { url: 'http://localhost', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'http://localhost', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: 'http://localhost', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'http://localhost', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ]);
  });

  it('is that of 0.3 for readers of 0.3 [R-V03-01]', async () => {
    const { card: read3 } = await read(serve({ agent, card }), { 'a2a-version': '0.3' });
    expect(read3).toMatchObject(older);
    expect(read3).not.toHaveProperty('supportedInterfaces');
    expect(read3.capabilities).not.toHaveProperty('extendedAgentCard');
    expect(read3.securitySchemes.key).toEqual(older.securitySchemes.key);
  });

  it('is both at once for readers who say nothing [R-V03-01]', async () => {
    const server = serve({ agent, card });
    const { card: both, etag } = await read(server);
    expect(both).toMatchObject(older);
    const { card: newer, etag: other } = await read(server, { 'a2a-version': '1.0' });
    expect(AgentCard.parse(both)).toEqual(AgentCard.parse(newer));
    expect(etag).not.toBe(other);
  });

  it.each(['superset', 'plain'] as const)(
    'says that the history of states is shown where the extension is declared, and only there: %s [R-SEED-15]',
    async (kind) => {
      const extensions = [{ uri: STATE_HISTORY }];
      const showing = serve({ agent, card: { ...card, capabilities: { extensions } } }, { card: kind });
      for (const headers of [{}, { 'a2a-version': '0.3' }])
        expect((await read(showing, headers as Record<string, string>)).card.capabilities).toMatchObject({
          stateTransitionHistory: true,
          extensions,
        });
      const { card: newer } = await read(showing, { 'a2a-version': '1.0' });
      expect(newer.capabilities).not.toHaveProperty('stateTransitionHistory');
      for (const headers of [{}, { 'a2a-version': '0.3' }]) {
        const { card: other } = await read(
          serve({ agent, card }, { card: kind }),
          headers as Record<string, string>,
        );
        expect(other.capabilities).not.toHaveProperty('stateTransitionHistory');
      }
    },
  );

  it('is that of 0.3 for readers who say nothing, if that is wanted', async () => {
    const { card: plain } = await read(serve({ agent, card }, { card: 'plain' }));
    expect(plain).toMatchObject(older);
    expect(plain).not.toHaveProperty('supportedInterfaces');
  });

  it('is that of 1.0 alone where 0.3 is not listed', async () => {
    const supportedInterfaces = [
      { url: 'https://agents.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    const server = serve({ agent, card: { ...card, supportedInterfaces } });
    for (const headers of [{}, { 'a2a-version': '0.3' }])
      expect((await read(server, headers as Record<string, string>)).card).not.toHaveProperty('url');
  });

  it('tells of HTTP+JSON only where that is served', async () => {
    const { card: read3 } = await read(serve({ agent, card }, { httpJson: false }), { 'a2a-version': '0.3' });
    expect(read3).not.toHaveProperty('additionalInterfaces');
  });

  it('loses its signatures on the way to 0.3, and that is said', async () => {
    const onLoss = vi.fn();
    const signatures = [{ protected: 'e30', signature: 'AA' }];
    const server = serve({ agent, card: { ...card, signatures } }, { onLoss });
    expect((await read(server, { 'a2a-version': '1.0' })).card.signatures).toEqual(signatures);
    expect(onLoss).not.toHaveBeenCalled();
    for (const headers of [{}, { 'a2a-version': '0.3' }])
      expect((await read(server, headers as Record<string, string>)).card).not.toHaveProperty('signatures');
    expect(onLoss).toHaveBeenCalledWith({ code: 'signatures', path: 'signatures' });
  });

  it('says losses on the console, each kind once, without a hook', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const server = serve({ agent, card: { ...card, signatures: [{ protected: 'e30', signature: 'AA' }] } });
    await read(server);
    await read(server);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('Signatures of a card')]]);
    warn.mockRestore();
  });
});

describe('a scheme with several flows', () => {
  const flow = { tokenUrl: 'https://login.example/token', scopes: {} };
  const login = { type: 'oauth2' as const, flows: { clientCredentials: flow, password: flow } };
  it('becomes several schemes of which one will do [R-V03-14]', () => {
    const { value } = translations.card.up({
      ...older,
      name: 'Older',
      description: '',
      version: '1',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
      securitySchemes: { login, key: { type: 'apiKey', in: 'header', name: 'k' } },
      security: [{ login: ['read'], key: [] }],
    });
    expect(Object.keys(value.securitySchemes ?? {})).toEqual(['login', 'login#password', 'key']);
    expect(value.securityRequirements).toEqual([
      { schemes: { login: { list: ['read'] }, key: { list: [] } } },
      { schemes: { 'login#password': { list: ['read'] }, key: { list: [] } } },
    ]);
  });
});

describe('a client that speaks 0.3 too', () => {
  const compatibility = [v03Client()];
  const client = (server: ReturnType<typeof serve>, options = {}) =>
    connect('http://localhost', { fetch: server.fetch, compatibility, ...options });

  it('takes 1.0 where it is offered first, and 0.3 where that is asked for [R-VER-07] [R-VER-08]', async () => {
    const server = serve({ agent });
    expect((await client(server)).interface.protocolVersion).toBe('1.0');
    const older = await client(server, { version: '0.3' });
    expect(older.interface).toMatchObject({ protocolBinding: 'JSONRPC', protocolVersion: '0.3' });
    expect((await older.send('Hi')).message?.parts).toEqual([{ text: 'Hello' }]);
  });

  it('finds an agent by a card that knows only 0.3', async () => {
    const server = serve({ agent });
    const seen: string[] = [];
    const asOlder = async (request: Request) => {
      const headers = new Headers(request.headers);
      if (request.method === 'GET') headers.set('a2a-version', '0.3');
      else seen.push(JSON.parse(await request.clone().text()).method);
      return server.fetch(new Request(request, { headers }));
    };
    const agentClient = await connect('http://localhost', { fetch: asOlder, compatibility });
    expect(agentClient.card.supportedInterfaces).toEqual([
      { url: 'http://localhost', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'http://localhost', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ]);
    expect((await agentClient.send('Hi')).message?.parts).toEqual([{ text: 'Hello' }]);
    expect(seen).toEqual(['message/send']);
    await expect(connect('http://localhost', { fetch: asOlder })).rejects.toMatchObject({
      code: 'INVALID_CARD',
    });
  });

  it('takes a card of 0.3 that is handed over', async () => {
    const server = serve({ agent });
    const { card: read3 } = await read(server, { 'a2a-version': '0.3' });
    const agentClient = await connect(read3, { fetch: server.fetch, compatibility });
    expect((await agentClient.send('Hi')).message?.parts).toEqual([{ text: 'Hello' }]);
  });

  it.each([
    [{ url: 'https://a.example', name: 'x', supportsAuthenticatedExtendedCard: true }, true],
    [{ url: 'https://a.example', name: 'x', supportsExtendedAgentCard: true }, true],
    [{ url: 'https://a.example', name: 'x' }, undefined],
  ])('reads %o', (older, extendedAgentCard) => {
    const read = v03Client().decodeCard({ ...older, skills: [] });
    expect(read?.capabilities.extendedAgentCard).toBe(extendedAgentCard);
    expect(read?.supportedInterfaces).toEqual([
      { url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ]);
  });

  it.each([
    [null],
    ['card'],
    [{}],
    [{ url: 'https://a.example', skills: 7, securitySchemes: 7, security: 7 }],
  ])('takes %o for no card of 0.3', (json) => {
    expect(v03Client().decodeCard(json)).toBeUndefined();
  });

  it('refuses what 0.3 cannot say', async () => {
    const older = await client(serve({ agent }), { version: '0.3' });
    await expect(older.listTasks({})).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    await expect(older.getTask({ id: 't', tenant: 'acme' })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });
});

it('the extended card is one of 0.3', async () => {
  const { error, result } = await ask(
    serve({
      agent,
      card: { ...card, extended: { description: 'For you' } },
      authenticate: () => ({ scope: 'me' }),
    }),
    'agent/getAuthenticatedExtendedCard',
  );
  expect(error).toBeUndefined();
  expect(result).toMatchObject({ protocolVersion: '0.3.0', url: 'http://localhost', description: 'For you' });
});
