import { generateKeyPairSync } from 'node:crypto';
import { apiKey, signCard, verifyCard } from '@batonjs/auth';
import { AgentCard } from '@batonjs/protocol';
import { A2AError, type AgentServerOptions, completed } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere, everywhereOverHttp, open, type Peer } from '../peer.ts';

const done = async function* () {
  yield completed('Done');
};
const authenticate = apiKey({
  header: 'X-API-Key',
  keys: new Map([
    ['a', { scope: 'ada', scopes: ['admin'] }],
    ['b', { scope: 'bob' }],
  ]),
});
const row = { name: 'Row', description: 'For tests' };
const ada = { 'x-api-key': 'a' };
const bob = { 'x-api-key': 'b' };
const admin = { id: 'admin', name: 'Admin', description: 'Does everything', tags: ['x'] };
const url = '/.well-known/agent-card.json';
const cardOf = async ({ fetch }: Peer, path = url) => (await (await fetch(path)).json()) as AgentCard;

everywhere('The extended card', (serve) => {
  it('is refused where it is not declared, and after that where there is none [R-CARD-21] [R-OP-06]', async () => {
    const plain = await serve(done, { authenticate });
    expect((await cardOf(plain)).capabilities).not.toHaveProperty('extendedAgentCard');
    await expect(plain.call('GetExtendedAgentCard', {}, ada)).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
    const declared = await serve(done, {
      authenticate,
      card: { name: 'Row', description: 'For tests', capabilities: { extendedAgentCard: true } },
    });
    await expect(declared.call('GetExtendedAgentCard', {}, ada)).rejects.toMatchObject({
      reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    });
    const none = await serve(done, { authenticate, card: { ...row, extended: () => undefined } });
    await expect(none.call('GetExtendedAgentCard', {}, ada)).rejects.toMatchObject({
      reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    });
  });

  it('is given to callers who say who they are, by a scheme of the public card [R-CARD-20] [R-CARD-21]', async () => {
    const peer = await serve(done, {
      authenticate,
      card: { ...row, extended: { skills: [admin], version: '2.0.0' } },
    });
    const known = await cardOf(peer);
    expect(known.capabilities.extendedAgentCard).toBe(true);
    expect(known.skills).toEqual([]);
    expect(Object.keys(known.securitySchemes ?? {})).toEqual(['apiKey']);
    await expect(peer.call('GetExtendedAgentCard', {})).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    const extended = await peer.call('GetExtendedAgentCard', {}, ada);
    // No request over gRPC says at which address the agent is over HTTP.
    const isGrpc = peer.binding === 'GRPC';
    const supportedInterfaces = known.supportedInterfaces.slice(isGrpc ? -1 : 0);
    // Over gRPC, an empty list is absent.
    const securityRequirements = isGrpc ? [{ schemes: { apiKey: {} } }] : known.securityRequirements;
    expect(extended).toEqual({
      ...known,
      supportedInterfaces,
      securityRequirements,
      skills: [admin],
      version: '2.0.0',
    });
    expect(AgentCard.parse(extended)).toEqual(extended);
  });

  it('may differ from caller to caller, who may be refused [R-CARD-20] [R-CARD-22]', async () => {
    const { call } = await serve(done, {
      authenticate,
      card: {
        ...row,
        extended: async ({ scope, scopes = [] }) => {
          if (scopes.includes('admin')) return { description: `For ${scope}` };
          throw new A2AError('PERMISSION_DENIED', undefined, { metadata: { scope: 'admin' } });
        },
      },
    });
    expect((await call('GetExtendedAgentCard', {}, ada)).description).toBe('For ada');
    await expect(call('GetExtendedAgentCard', {}, bob)).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      metadata: { scope: 'admin' },
    });
  });
});

everywhereOverHttp('The extended card in a cache', (serve) => {
  it('is kept by its caller only, who may ask whether it changed [R-CARD-22]', async () => {
    const peer = await serve(done, {
      authenticate,
      card: { ...row, extended: ({ scope }) => ({ description: scope }) },
    });
    const ask = (headers: Record<string, string>) =>
      peer.binding === 'JSONRPC'
        ? peer.fetch('', {
            method: 'POST',
            headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard' }),
          })
        : peer.fetch('/extendedAgentCard', { headers: { 'a2a-version': '1.0', ...headers } });
    const { headers, status } = await ask(ada);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, max-age=60');
    expect(headers.get('vary')?.split(', ')).toEqual(expect.arrayContaining(['A2A-Version', 'x-api-key']));
    const etag = headers.get('etag');
    if (peer.binding === 'JSONRPC') return expect(etag).toBeNull();
    const again = await ask({ ...ada, 'if-none-match': etag ?? '' });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    expect((await ask({ ...bob, 'if-none-match': etag ?? '' })).status).toBe(200);
  });
});

const here = { binding: 'HTTP+JSON', adapter: 'Express', store: 'memory' } as const;

describe('A server that cannot work', () => {
  it('is refused: an extended card that no caller could ask for [R-CARD-20]', async () => {
    await expect(open(here, done, { card: { ...row, extended: {} } })).rejects.toThrow(/authenticate/);
  });

  it('is refused: cookies for every page', async () => {
    await expect(open(here, done, { cors: { credentials: true } })).rejects.toThrow(/origins/);
  });
});

describe('A signed card', () => {
  const key = { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'k' } as never;
  const trust = { keys: [key] };
  const publicUrl = 'http://localhost';

  it('is signed as it is sent, with its interfaces and security [R-SIG-01] [R-SIG-02]', async () => {
    const peer = await open(here, done, {
      authenticate,
      publicUrl,
      card: { ...row, sign: (card) => signCard(card, key), extended: { skills: [admin] } },
    });
    const card = await cardOf(peer);
    expect(card.supportedInterfaces.map((one) => one.url)).toEqual([publicUrl, publicUrl]);
    expect(await verifyCard(card, trust)).toMatchObject({ kid: 'k', unauthenticated: [] });
    const extended = await peer.call('GetExtendedAgentCard', {}, ada);
    expect(extended.skills).toEqual([admin]);
    expect(await verifyCard(extended, trust)).toMatchObject({ kid: 'k' });
    await expect(verifyCard({ ...card, skills: [admin] }, trust)).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
    });
  });

  it('is signed once for all addresses that requests name, so that its ETag stays [R-CARD-03]', async () => {
    let signed = 0;
    const { fetch } = await open(here, done, {
      publicUrl,
      card: {
        ...row,
        sign: async (card) => ({ ...card, signatures: [{ protected: 'x', signature: `${++signed}` }] }),
      },
    });
    const [first, second] = await Promise.all([fetch(url), fetch(url)]);
    const { status } = await fetch(url, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    expect([signed, status]).toEqual([1, 304]);
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
    const other = await fetch(url, { headers: { host: 'other.localhost' } });
    expect([other.headers.get('etag'), signed]).toEqual([first.headers.get('etag'), 1]);
  });

  it('names an address that its owner chose, or there is no server [R-SIG-02]', async () => {
    const sign = (card: AgentCard) => signCard(card, key);
    await expect(open(here, done, { card: { ...row, sign } })).rejects.toThrow(
      /`card.sign` needs `publicUrl`/,
    );
    const supportedInterfaces = [
      { url: 'https://agents.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    const card = { name: 'Row', description: 'For tests', supportedInterfaces };
    const signed = await cardOf(await open(here, done, { card: { ...row, sign, ...card } }));
    expect(signed.supportedInterfaces).toEqual(supportedInterfaces);
    expect(await verifyCard(signed, trust)).toMatchObject({ kid: 'k' });
  });

  it('is not sent unsigned when signing fails; the next request tries again', async () => {
    const logged: unknown[] = [];
    let works = false;
    const { fetch } = await open(here, done, {
      publicUrl,
      card: {
        ...row,
        sign: (card) => {
          if (works) return card;
          throw new Error('hunter2');
        },
      },
      logger: (_level, _message, details) => void logged.push(details.err),
    });
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
    expect(logged).toEqual([new Error('hunter2')]);
    works = true;
    expect((await fetch(url)).status).toBe(200);
  });
});

describe('The card of a server', () => {
  const extensionsOf = async (options: Partial<AgentServerOptions>) =>
    (await cardOf(await open(here, done, options))).capabilities.extensions;

  it('says that a message sent twice is received once, where it is [R-IDX-06] [R-EXT-01]', async () => {
    const uri = 'https://batonjs.dev/extensions/idempotency/v1';
    const advertised = [expect.objectContaining({ uri })];
    expect(await extensionsOf({})).toBeUndefined();
    expect(await extensionsOf({ authenticate })).toEqual(advertised);
    expect(await extensionsOf({ messages: { idempotency: true } })).toEqual(advertised);
    expect(await extensionsOf({ authenticate, messages: { idempotency: false } })).toBeUndefined();
    const own = { uri, description: 'Own words', params: { ttlSeconds: 3_600 } };
    const other = { uri: 'urn:x' };
    const card = { name: 'Row', description: 'For tests', capabilities: { extensions: [other, own] } };
    expect(await extensionsOf({ card, messages: { idempotency: true } })).toEqual([other, own]);
    const others = { ...card, capabilities: { extensions: [other] } };
    expect(await extensionsOf({ card: others, messages: { idempotency: true } })).toEqual([
      other,
      ...advertised,
    ]);
  });

  it('has caching headers and an ETag that follows what it says [R-CARD-03]', async () => {
    const { fetch } = await open(here, done);
    const { headers } = await fetch(url);
    expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    expect(headers.get('vary')).toBe('A2A-Version');
    const etag = headers.get('etag') ?? '';
    for (const known of [etag, `"x", W/${etag}`, '*'])
      expect((await fetch(url, { headers: { 'if-none-match': known } })).status).toBe(304);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
    const other = await open(here, done, { card: { name: 'Row', description: 'Other' } });
    expect((await other.fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(200);
  });
});

everywhereOverHttp('Extensions', (serve) => {
  const [x, y, z] = ['https://x.example/v1', 'https://y.example/v1', 'https://z.example/v1'];
  const card = {
    name: 'Row',
    description: 'For tests',
    capabilities: { extensions: [{ uri: x }, { uri: y, params: { a: 1 } }] },
  };
  const seen = async function* ({ extensions }: { extensions: readonly string[] }) {
    yield completed(extensions.join(' '));
  };

  /** The reply to a send, as one answer or a stream. */
  const send = (peer: Peer, isStream: boolean, headers: Record<string, string>) => {
    const params = { message: say('go') };
    const method = isStream ? 'SendStreamingMessage' : 'SendMessage';
    const isRpc = peer.binding === 'JSONRPC';
    return peer.fetch(isRpc ? '' : `/message:${isStream ? 'stream' : 'send'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body: JSON.stringify(isRpc ? { jsonrpc: '2.0', id: 1, method, params } : params),
    });
  };

  it.each([
    ['none', {}, null],
    ['one', { 'a2a-extensions': y }, y],
    ['both, in the order asked for', { 'a2a-extensions': ` ${y} ,, ${x}` }, `${y}, ${x}`],
    ['one asked for twice', { 'a2a-extensions': `${x},${x}` }, x],
    ['only what the agent has', { 'a2a-extensions': `${z}, ${x}` }, x],
    ['nothing that the agent does not have', { 'a2a-extensions': z }, null],
    ['nothing in other letters', { 'a2a-extensions': y.toUpperCase() }, null],
    ['what older clients ask for in another header', { 'x-a2a-extensions': x }, x],
    ['a requested one in any case of the header', { 'A2A-EXTENSIONS': x }, x],
  ])(
    'are activated as asked for and said so: %s [R-EXT-01] [R-EXT-02] [R-HDR-01] [R-HDR-02] [R-HDR-03] [R-HDR-04]',
    async (_, headers, active) => {
      const peer = await serve(seen, { card });
      for (const isStream of [false, true]) {
        const response = await send(peer, isStream, headers as Record<string, string>);
        expect(response.headers.get('a2a-extensions')).toBe(active);
        expect(response.headers.get('content-type')).toMatch(isStream ? 'text/event-stream' : 'json');
        expect(await response.text()).toContain(`"text":"${(active ?? '').replace(',', '')}"`);
      }
    },
  );

  it('that are required are required of every operation, and the first that is missing is named [R-OP-08] [R-EXT-02]', async () => {
    const required = {
      ...card,
      capabilities: {
        extensions: [
          { uri: x, required: true },
          { uri: y, required: true },
        ],
      },
    };
    const { call, fetch } = await serve(seen, { card: required });
    for (const [operation, params] of [
      ['SendMessage', { message: say('go') }],
      ['GetTask', { id: 'x' }],
      ['ListTasks', {}],
      ['CancelTask', { id: 'x' }],
    ] as const) {
      await expect(call(operation, params, { 'a2a-extensions': x })).rejects.toMatchObject({
        reason: 'EXTENSION_SUPPORT_REQUIRED',
        metadata: { extension: y },
      });
    }
    await expect(call('ListTasks', {}, { 'a2a-extensions': `${x}, ${y}` })).resolves.toBeDefined();
    expect((await fetch(url)).status).toBe(200);
  });
});
