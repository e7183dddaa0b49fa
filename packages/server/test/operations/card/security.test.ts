import type { AgentCard } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { credentialHeaders, insufficient, withChallenge } from '../../../src/operations/card/security.ts';

const securitySchemes: AgentCard['securitySchemes'] = {
  token: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  inUrl: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
  inCookie: { apiKeySecurityScheme: { location: 'cookie', name: 'session' } },
  login: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example' } },
  tls: { mtlsSecurityScheme: {} },
};
const only = (...names: string[]) => ({
  securitySchemes: Object.fromEntries(names.map((name) => [name, securitySchemes[name]!])),
});

describe('a refusal for missing credentials', () => {
  const challengeFor = (security: Parameters<typeof withChallenge>[1]) =>
    withChallenge(new A2AError('UNAUTHENTICATED'), security).challenge;

  it.each([
    ['token', 'Bearer realm="token"'],
    ['basic', 'Basic realm="basic"'],
    ['key', 'ApiKey realm="key", in="header", name="X-Key"'],
    ['inUrl', 'ApiKey realm="inUrl", in="query", name="key"'],
    ['login', 'Bearer realm="login"'],
    ['tls', undefined],
  ])('names the scheme %s', (name, challenge) => {
    expect(challengeFor(only(name))).toBe(challenge);
  });

  it('names every scheme, with the scopes that any requirement asks of it, each once', () => {
    const securityRequirements: AgentCard['securityRequirements'] = [
      { schemes: { token: { list: ['a', 'b'] } } },
      { schemes: { token: { list: ['b', 'c'] }, basic: { list: [] } } },
      {},
    ];
    expect(challengeFor({ ...only('token', 'tls', 'basic'), securityRequirements })).toBe(
      'Bearer realm="token", scope="a b c", Basic realm="basic"',
    );
    expect(challengeFor({})).toBeUndefined();
  });

  it('keeps the challenge that it has, and all else', () => {
    const cause = new Error('why');
    const given = { details: [{ a: 1 }], metadata: { b: 'c' }, retryAfter: 3, cause } as never;
    const own = new A2AError('UNAUTHENTICATED', 'No', { challenge: 'Own' });
    expect(withChallenge(own, only('token'))).toBe(own);
    const other = new A2AError('PERMISSION_DENIED', 'No');
    expect(withChallenge(other, only('token'))).toBe(other);
    const plain = new A2AError('UNAUTHENTICATED', 'Never seen', given);
    expect(withChallenge(plain, only('token'))).toMatchObject({
      ...{ reason: 'UNAUTHENTICATED', message: 'Never seen', details: [{ a: 1 }], metadata: { b: 'c' } },
      ...{ retryAfter: 3, cause, challenge: 'Bearer realm="token"' },
    });
  });
});

describe('a refusal of credentials that are not enough', () => {
  const requirement = { schemes: { token: { list: ['read', 'write'] }, key: {}, gone: { list: ['read'] } } };
  const refusal = (unmet: { schemes?: string[]; scopes?: string[] }) =>
    insufficient('The skill "x"', { schemes: [], scopes: [], ...unmet, requirement }, { securitySchemes });

  it.each([
    [{ scopes: ['read'] }, 'The skill "x" needs the scope read'],
    [{ scopes: ['read', 'write'] }, 'The skill "x" needs the scopes read, write'],
    [{ schemes: ['key'] }, 'The skill "x" needs the scheme key'],
    [
      { scopes: ['read'], schemes: ['key', 'tls'] },
      'The skill "x" needs the scope read and the schemes key, tls',
    ],
  ])('says what the caller lacks: %j', (unmet, message) => {
    expect(refusal(unmet)).toMatchObject({ reason: 'PERMISSION_DENIED', message });
  });

  it('challenges with the schemes that lack something, each with its own missing scopes', () => {
    const { challenge, metadata } = refusal({ scopes: ['write', 'other'] });
    expect(challenge).toBe('Bearer realm="token", error="insufficient_scope", scope="write"');
    expect(metadata).toEqual({ scope: 'write other' });
    expect(refusal({ schemes: ['key'] })).toMatchObject({
      challenge: 'ApiKey realm="key", error="insufficient_scope", in="header", name="X-Key"',
      metadata: {},
    });
  });

  it('has no challenge where nothing of the card can be asked for', () => {
    const unmet = { schemes: ['gone', 'toString'], scopes: [], requirement: { schemes: { toString: {} } } };
    expect(insufficient('It', unmet, { securitySchemes }).challenge).toBeUndefined();
    expect(insufficient('It', { ...unmet, requirement: {} }, {}).challenge).toBeUndefined();
    const tls = { ...unmet, schemes: ['tls'], requirement: { schemes: { tls: {} } } };
    expect(insufficient('It', tls, { securitySchemes }).challenge).toBeUndefined();
    const more = insufficient('It', tls, { securitySchemes }, { skill: 'x' });
    expect(more.metadata).toEqual({ skill: 'x' });
  });
});

it.each([
  [['token'], ['authorization']],
  [['key'], ['authorization', 'x-key']],
  [['inUrl'], ['authorization']],
  [['inCookie'], ['authorization', 'cookie']],
  [['tls'], ['authorization']],
  [
    ['key', 'token', 'inCookie', 'tls'],
    ['authorization', 'x-key', 'cookie'],
  ],
])('the schemes %j come in the headers %j', (names, headers) => {
  expect(credentialHeaders(only(...names))).toEqual(headers);
  expect(credentialHeaders({})).toEqual(['authorization']);
});
