import type { AgentCard, SecurityScheme } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { type OAuthClient, type OAuthOptions, oauth, type StoredToken } from '../../src/index.ts';
import { authority } from '../requests/authority.ts';

const servers = ['https://one.example', 'https://two.example', 'https://three.example'];
const one = 'https://one.example';

/** Schemes `one`, `two`, `three` and `evil`, each of a server of that name, and an API key, `key`. */
const securitySchemes = Object.fromEntries([
  ...[...servers, 'https://evil.example'].map((server): [string, SecurityScheme] => [
    server.slice('https://'.length, -'.example'.length),
    { openIdConnectSecurityScheme: { openIdConnectUrl: `${server}/.well-known/openid-configuration` } },
  ]),
  ['key', { apiKeySecurityScheme: { location: 'header', name: 'x-key' } }],
  ['tls', { mtlsSecurityScheme: {} }],
]) as Record<string, SecurityScheme>;

/** Alternatives, each with scopes by scheme. */
const need = (...alternatives: Record<string, string[]>[]) =>
  alternatives.map((schemes) => ({
    schemes: Object.fromEntries(Object.entries(schemes).map(([name, list]) => [name, { list }])),
  }));

/** A card of these requirements. */
const cardOf = (securityRequirements: unknown, skills: object[] = [], more: object = {}) =>
  ({ securitySchemes, securityRequirements, skills, ...more }) as unknown as AgentCard;

interface Asking extends Partial<OAuthOptions> {
  /** Whose store has a token. Default: all. */
  readonly kept?: readonly string[];
  readonly realm?: string;
  readonly challenge?: string;
  readonly refused?: string;
  readonly client?: Partial<OAuthClient>;
  readonly isTrusted?: boolean;
  readonly url?: string;
}

/** Server and scopes of the token that an agent with this card gets, as `one:read:write`; or the error. */
async function given(card: AgentCard, asking: Asking = {}) {
  const {
    kept = servers,
    realm,
    refused,
    client,
    isTrusted = true,
    url = 'https://agent.example/rpc',
    ...more
  } = asking;
  const { challenge = realm && `Bearer realm="${realm}"`, ...options } = more;
  const nameOf = (server: string) => new URL(server).hostname.split('.')[0]!;
  const store = {
    get(key: string): StoredToken | undefined {
      const [, server, , , , scopes] = JSON.parse(key);
      if (!kept.some((one) => nameOf(one) === nameOf(server))) return undefined;
      return { accessToken: [nameOf(server), ...scopes].join(':'), obtainedAt: Date.now() };
    },
    set() {},
    delete() {},
  };
  const clients = Object.fromEntries(servers.map((server) => [server, { clientId: 'me', ...client }]));
  const { fetch, urls } = authority();
  const request = {
    url,
    isTrusted,
    card,
    ...(challenge && {
      challenge,
      refused: { ...(refused !== undefined && { authorization: `Bearer ${refused}` }) },
    }),
  };
  try {
    const headers = await oauth({ clients, store, fetch, ...options })(request);
    return headers?.authorization?.replace('Bearer ', '');
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message, asked: urls() };
  }
}

const noClient = expect.objectContaining({
  code: 'NO_CLIENT',
  message: expect.stringContaining('https://evil.example'),
  asked: [],
});

describe('the token for a card', () => {
  it.each<[string, unknown, object[], Asking, unknown]>([
    ['one scheme', need({ one: ['read'] }), [], {}, 'one:read'],
    ['no scopes', [{ schemes: { one: {} } }], [], {}, 'one'],
    ['a requirement without a list', [{ schemes: { one: undefined } }], [], {}, 'one'],
    ['the first of several alternatives', need({ two: [] }, { one: [] }), [], {}, 'two'],
    ['one of which there is a token', need({ two: [] }, { one: ['read'] }), [], { kept: [one] }, 'one:read'],
    ['a scheme beside a key', need({ key: [], one: ['read'] }), [], {}, 'one:read'],
    ['a scheme beside a certificate', need({ one: ['read'], tls: [] }), [], {}, 'one:read'],
    ['a scheme without a client, and one with', need({ evil: [] }, { one: [] }), [], {}, 'one'],
    ['a scheme without a client only', need({ evil: [] }), [], {}, noClient],
    ['a scheme without a client, or a key', need({ evil: [] }, { key: [] }), [], {}, undefined],
    ['a key, or a scheme', need({ key: [] }, { one: [] }), [], {}, 'one'],
    [
      'a key, or a scheme that needs what there is not',
      need({ key: [] }, { one: [] }),
      [],
      { kept: [] },
      { code: 'METADATA' },
    ],
    ['nothing', undefined, [], {}, undefined],
    ['an empty list', [], [], {}, undefined],
    ['an empty alternative', [{}], [], {}, undefined],
    [
      'an empty alternative, or a scheme of which there is a token',
      [...need({ one: [] }), {}],
      [],
      {},
      'one',
    ],
    ['an empty alternative, or a scheme', [...need({ one: [] }), {}], [], { kept: [] }, undefined],
    [
      'a skill that is not named',
      undefined,
      [{ id: 'a', securityRequirements: need({ one: [] }) }],
      {},
      undefined,
    ],
    [
      'a skill that is named',
      undefined,
      [{ id: 'a', securityRequirements: need({ one: ['x'] }) }],
      { skills: ['a'] },
      'one:x',
    ],
    [
      'two skills that are named, and the card',
      need({ one: ['c'] }, { two: ['c'] }),
      [
        { id: 'a', securityRequirements: need({ two: ['x', 'c'] }) },
        { id: 'b', securityRequirements: need({ two: ['y'], key: [] }) },
        { id: 'other', securityRequirements: need({ one: ['z'] }) },
      ],
      { skills: ['a', 'b'] },
      'two:c:x:y',
    ],
    ['a skill without requirements', need({ one: ['c'] }), [{ id: 'a' }], { skills: ['a'] }, 'one:c'],
  ])('that asks for %s', async (_, requirements, skills, asking, expected) => {
    const found = await given(cardOf(requirements, skills), asking);
    if (typeof expected === 'object') expect(found).toMatchObject(expected as object);
    else expect(found).toBe(expected);
  });

  it.each<[string, unknown, Asking, unknown]>([
    ['names a scheme that only a skill requires', need({ one: [] }), { realm: 'two' }, 'two'],
    ['names one of several', need({ one: [] }, { two: [] }, { three: [] }), { realm: 'three' }, 'three'],
    [
      'names the one that comes first already',
      need({ two: ['a'] }, { one: ['b'] }),
      { realm: 'two' },
      'two:a',
    ],
    ['names one that has no client', need({ one: [] }), { realm: 'evil' }, 'one'],
    ['names no scheme', need({ one: [] }), { realm: 'toString' }, 'one'],
    ['names one of a key', need({ evil: [] }), { realm: 'key' }, undefined],
    ['names nothing, of a card without requirements', undefined, { challenge: 'Bearer' }, 'one'],
    ['names nothing, of a card with an empty alternative', [{}], { challenge: 'Bearer' }, undefined],
    ['names a scheme of a card without requirements', undefined, { realm: 'two' }, 'two'],
    [
      'names two schemes, of which the second refused its token',
      need({ one: [] }, { two: [] }),
      { challenge: 'Bearer realm="two", Bearer realm="one"' },
      'two',
    ],
  ])('whose agent %s', async (_, requirements, asking, expected) => {
    expect(await given(cardOf(requirements), asking)).toEqual(expected);
  });

  it('without schemes is none, also where its agent asks for one', async () => {
    const card = { securityRequirements: [] } as unknown as AgentCard;
    expect(await given(card, { challenge: 'Bearer' })).toBeUndefined();
    expect(await given({ securityRequirements: need({ one: [] }) } as unknown as AgentCard)).toBeUndefined();
  });

  it('that asks for two servers in one request, or for two flows of one, is not there', async () => {
    const flow = (name: string) =>
      ({ oauth2SecurityScheme: { flows: { [name]: { tokenUrl: `${one}/token`, scopes: {} } } } }) as unknown;
    const card = {
      securitySchemes: {
        ...securitySchemes,
        machine: flow('clientCredentials'),
        device: flow('deviceCode'),
        again: flow('deviceCode'),
      },
      securityRequirements: need({ machine: [], device: [] }),
    } as unknown as AgentCard;
    const refusal = {
      code: 'NO_CLIENT',
      message: 'The card asks for tokens of two servers in one request',
      asked: [],
    };
    expect(await given(card)).toEqual(refusal);
    expect(await given({ ...card, securityRequirements: need({ one: [], two: [] }) } as AgentCard)).toEqual(
      refusal,
    );
    const same = { ...card, securityRequirements: need({ device: ['a'], again: ['a', 'b'] }) };
    expect(await given(same as AgentCard)).toBe('one:a:b');
  });

  it('has the origins of agents that its client is for', async () => {
    const card = cardOf(need({ one: [] }));
    const of = (...agents: string[]) => given(card, { client: { agents } });
    expect(await of('https://other.example', 'https://agent.example/any/path')).toBe('one');
    expect(await of('https://agent.example:443')).toBe('one');
    for (const agents of [
      [],
      ['https://agent.example:8443'],
      ['http://agent.example'],
      ['https://x.agent.example'],
    ])
      expect(await of(...agents)).toMatchObject({
        code: 'NO_CLIENT',
        message: `The client of ${one}/ is not for the agent at https://agent.example`,
      });
  });

  it.each<[string, object[], unknown]>([
    ['the 64th', [{ one: [] }], 'one'],
    ['the 65th', [{ evil: [] }, { one: [] }], noClient],
  ])('is looked for in %s alternative', async (_, last, expected) => {
    const first = Array.from({ length: 63 }, () => ({ evil: [] }));
    expect(await given(cardOf(need(...first, ...(last as Record<string, string[]>[]))))).toEqual(expected);
  });

  it.each([
    [7, 'one'],
    [8, 'one'],
    [9, noClient],
  ])('is looked for in 64 combinations, of %i alternatives each', async (count, expected) => {
    // Only the last of a card's alternatives, together with the last of a skill's, has a client.
    const list = (last: string) =>
      need(...Array.from({ length: count - 1 }, () => ({ evil: [] })), { [last]: [] });
    const card = cardOf(list('one'), [{ id: 'a', securityRequirements: list('one') }]);
    expect(await given(card, { skills: ['a'] })).toEqual(expected);
  });

  it('goes nowhere but to the agent that the program named, and over TLS', async () => {
    const card = cardOf(need({ one: [] }));
    expect(await given(card, { isTrusted: false, url: 'https://evil.example/rpc?x=1' })).toEqual({
      code: 'NOT_TRUSTED',
      message:
        'The card names https://evil.example/rpc, which gets no token: list its origin in `trustedOrigins` if it may have one',
      asked: [],
    });
    expect(await given(card, { url: 'http://agent.example/rpc' })).toEqual({
      code: 'INSECURE_URL',
      message:
        'The address of the agent is http://agent.example/rpc: it must be https, or http on this machine',
      asked: [],
    });
    const open = cardOf([...need({ one: [] }), {}]);
    for (const where of [{ isTrusted: false }, { url: 'http://agent.example/rpc' }]) {
      expect(await given(open, where)).toBeUndefined();
      expect(await given(open, { ...where, challenge: 'Bearer' })).toMatchObject({ asked: [] });
    }
  });
});

describe('a token whose scopes are not enough', () => {
  const lacks = (realm: string, scope: string) =>
    `Bearer realm="${realm}", error="insufficient_scope", scope="${scope}"`;
  const card = cardOf(need({ one: ['a'] }, { two: ['a'] }));

  it.each<[string, string, string | undefined]>([
    ['the scheme that was used', lacks('one', 'b'), 'one:a:b'],
    ['the other scheme', lacks('two', 'b'), 'two:a:b'],
    ['both schemes', `${lacks('two', 'b')}, ${lacks('one', 'c')}`, 'two:a:b'],
    [
      'another scheme with another error',
      `Bearer realm="two", error="invalid_token", ${lacks('one', 'b')}`,
      'two:a:b',
    ],
    ['scopes that it has already', lacks('one', 'a'), 'one:a'],
    ['a scope that it has already, and another', lacks('one', 'a b'), 'one:a:b'],
  ])('gets those that a challenge names for %s', async (_, challenge, expected) => {
    expect(await given(card, { challenge, refused: 'other' })).toBe(expected);
  });

  it('is not given again where it is the one that was refused', async () => {
    expect(await given(card, { challenge: lacks('one', 'a'), refused: 'one:a' })).toBeUndefined();
    expect(await given(card, { challenge: 'Bearer realm="one"', refused: 'one:a' })).toBe('two:a');
  });
});
