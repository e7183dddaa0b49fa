import { createHash } from 'node:crypto';
import { SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { apiKey } from '../../src/index.ts';
import { refusal, request } from './request.ts';

const ada = { scope: 'ada', claims: { plan: 'pro' }, scopes: ['read'] };
const bob = { scope: 'bob' };
const keys = new Map([
  ['key-of-ada', ada],
  ['key-of-bob', bob],
]);

describe('apiKey', () => {
  it.each([
    ['a header', { header: 'X-Api-Key' }, request({ 'x-api-key': 'key-of-bob' })],
    ['a query parameter', { query: 'key' }, request({}, 'x=1&key=key-of-bob')],
    ['a cookie', { cookie: 'session' }, request({ cookie: 'a=key-of-ada; session=key-of-bob;b' })],
  ])('knows the caller by a key in %s [R-AUTH-02] [R-AUTH-04]', async (_, place, sent) => {
    expect(await apiKey({ ...place, keys })(sent)).toEqual({ ...bob, schemes: ['apiKey'] });
  });

  it.each([
    [request(), undefined],
    [request({ 'x-other': 'key-of-ada' }), undefined],
    [request({ 'x-api-key': '' }), undefined],
    [request({}, 'X-Api-Key=key-of-ada'), undefined],
    [request({ cookie: 'X-Api-Key=key-of-ada' }), undefined],
  ])('finds no credentials elsewhere', async (sent, expected) => {
    expect(await apiKey({ header: 'X-Api-Key', keys })(sent)).toBe(expected);
  });

  it.each(['key-of-eve', 'key-of-ad', 'key-of-adaa', 'KEY-OF-ADA', 'key-of-ada, key-of-bob', '__proto__'])(
    'refuses %s, and says nothing of it [R-ERR-08] [R-ERR-11]',
    async (key) => {
      const error = await refusal(apiKey({ header: 'X-Api-Key', keys }), request({ 'x-api-key': key }));
      expect(error).toMatchObject({ reason: 'UNAUTHENTICATED', challenge: undefined });
      expect(JSON.stringify([error, error.message])).not.toContain(key);
    },
  );

  it('asks for the caller by the hash of the key, so that keys need not be kept', async () => {
    const asked: string[] = [];
    const find = async (sha256: string) => {
      asked.push(sha256);
      return sha256.startsWith('0') ? undefined : ada;
    };
    expect(await apiKey({ header: 'k', keys: find })(request({ k: 'key-of-ada' }))).toEqual({
      ...ada,
      schemes: ['apiKey'],
    });
    expect(asked).toEqual([createHash('sha256').update('key-of-ada').digest('hex')]);
  });

  it('says in the card what it wants [R-AUTH-01]', () => {
    const { securitySchemes, securityRequirements } = apiKey({
      cookie: 'session',
      keys,
      name: 'browser "session"',
      description: 'For people',
    });
    expect(securitySchemes).toEqual({
      'browser "session"': {
        apiKeySecurityScheme: { description: 'For people', location: 'cookie', name: 'session' },
      },
    });
    for (const scheme of Object.values(securitySchemes)) SecurityScheme.parse(scheme);
    for (const requirement of securityRequirements) SecurityRequirement.parse(requirement);
    expect(securityRequirements).toEqual([{ schemes: { 'browser "session"': { list: [] } } }]);
  });
});

it.each([
  ['not set', undefined],
  ['empty', ''],
])('a key that is %s is refused at once, and its caller is named', (_, key) => {
  const given = new Map([['a', { scope: 'first' }]]);
  given.set(key as string, { scope: 'partner' });
  expect(() => apiKey({ header: 'X-API-Key', keys: given })).toThrow(
    new TypeError(
      'The API key of "partner" is missing, perhaps others too: are their environment variables set?',
    ),
  );
});
