import type { SecurityRequirement } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { type Authenticator, allOf, anyOf, apiKey } from '../../src/index.ts';
import { refusal, request } from './request.ts';

const app = apiKey({
  header: 'x-app',
  name: 'app',
  keys: new Map([['a', { scope: 'app', claims: { app: 'a', by: 'app' }, scopes: ['read', 'list'] }]]),
});
const user = apiKey({
  header: 'x-user',
  name: 'user',
  keys: new Map([['u', { scope: 'user', claims: { user: 'u', by: 'user' }, scopes: ['read', 'write'] }]]),
});
const throws = (reason: 'PERMISSION_DENIED' | 'UNAVAILABLE'): Authenticator =>
  Object.assign(
    async ({ headers }: { headers: Record<string, unknown> }) => {
      if (headers['x-trouble']) throw new A2AError(reason);
      return undefined;
    },
    { securitySchemes: {}, securityRequirements: [] },
  );

describe('anyOf', () => {
  it('accepts a caller that satisfies one; the first one decides the identity [R-AUTH-01]', async () => {
    const authenticate = anyOf(app, user);
    expect(await authenticate(request({ 'x-app': 'a' }))).toMatchObject({ scope: 'app' });
    expect(await authenticate(request({ 'x-user': 'u' }))).toMatchObject({ scope: 'user' });
    expect(await authenticate(request({ 'x-user': 'u', 'x-app': 'a' }))).toMatchObject({ scope: 'app' });
    expect(await authenticate(request({ 'x-app': 'wrong', 'x-user': 'u' }))).toMatchObject({ scope: 'user' });
    expect(await authenticate(request())).toBeUndefined();
  });

  it('refuses wrong credentials without the challenge of a single authenticator [R-ERR-08]', async () => {
    expect(await refusal(anyOf(app, user), request({ 'x-user': 'wrong' }))).toMatchObject({
      reason: 'UNAUTHENTICATED',
      challenge: undefined,
    });
  });

  it.each(['PERMISSION_DENIED', 'UNAVAILABLE'] as const)(
    'reports %s rather than wrong credentials',
    async (reason) => {
      const sent = request({ 'x-app': 'wrong', 'x-trouble': 'yes' });
      expect(await refusal(anyOf(app, throws(reason)), sent)).toMatchObject({ reason });
      expect(await refusal(anyOf(throws(reason), app), sent)).toMatchObject({ reason });
      const both = anyOf(throws('UNAVAILABLE'), throws('PERMISSION_DENIED'));
      expect(await refusal(both, sent)).toMatchObject({ reason: 'PERMISSION_DENIED' });
      expect(await anyOf(throws(reason), user)(request({ 'x-trouble': 'yes', 'x-user': 'u' }))).toMatchObject(
        {
          scope: 'user',
        },
      );
    },
  );

  it('says in the card that either will do [R-AUTH-01] [R-DM-47]', () => {
    const { securitySchemes, securityRequirements } = anyOf(app, user);
    expect(Object.keys(securitySchemes)).toEqual(['app', 'user']);
    expect(securityRequirements).toEqual([
      { schemes: { app: { list: [] } } },
      { schemes: { user: { list: [] } } },
    ]);
  });

  it('does not let one name mean two things', () => {
    const other = apiKey({ header: 'x-other', name: 'app', keys: new Map() });
    expect(() => anyOf(app, other)).toThrow(/"app"/);
    expect(Object.keys(anyOf(app, app).securitySchemes)).toEqual(['app']);
  });
});

describe('allOf', () => {
  it.each([undefined, '', null, 7])(
    'refuses a caller whose scope is %j: it would be one for all',
    async (scope) => {
      const nobody = apiKey({ header: 'x-odd', keys: new Map([['o', { scope } as never]]) });
      await expect(allOf(app, nobody)(request({ 'x-app': 'a', 'x-odd': 'o' }))).rejects.toThrow(/`scope`/);
    },
  );

  it('lets in only who satisfies all, as the combination of them [R-AUTH-01]', async () => {
    expect(await allOf(app, user)(request({ 'x-app': 'a', 'x-user': 'u' }))).toEqual({
      scope: '["app","user"]',
      claims: { app: 'a', user: 'u', by: 'user' },
      scopes: ['read', 'list', 'write'],
      schemes: ['app', 'user'],
    });
  });

  it.each([
    [{ 'x-app': 'a' }],
    [{ 'x-user': 'u' }],
    [{ 'x-app': 'a', 'x-user': 'wrong' }],
    [{ 'x-app': 'wrong', 'x-user': 'u' }],
  ])('refuses %j [R-ERR-08]', async (headers: Record<string, string>) => {
    expect(await refusal(allOf(app, user), request(headers))).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it('says that credentials are missing if only some are there', async () => {
    const { message } = await refusal(allOf(app, user), request({ 'x-app': 'a' }));
    expect(message).toBe('More credentials are needed');
  });

  it('gives no scopes to callers without any', async () => {
    const plain = apiKey({ header: 'x-plain', name: 'plain', keys: new Map([['p', { scope: 'plain' }]]) });
    const other = apiKey({ header: 'x-other', name: 'other', keys: new Map([['o', { scope: 'other' }]]) });
    expect(await allOf(plain, other)(request({ 'x-plain': 'p', 'x-other': 'o' }))).toEqual({
      scope: '["plain","other"]',
      claims: {},
      scopes: [],
      schemes: ['plain', 'other'],
    });
  });

  it('names no schemes of callers that come without', async () => {
    const known = Object.assign(async () => ({ scope: 's' }), {
      securitySchemes: {},
      securityRequirements: [],
    });
    expect(await allOf(known, known)(request())).toMatchObject({ schemes: [] });
  });

  it('asks in the card for the scopes of both where they share a scheme', () => {
    const wanting = (securityRequirements: readonly SecurityRequirement[]): Authenticator =>
      Object.assign(async () => undefined, { securitySchemes: {}, securityRequirements });
    const asking = (...list: string[]) =>
      wanting([{ schemes: { oauth: { list } } }, { schemes: { other: {} } }]);
    expect(allOf(asking('a', 'b'), asking('b', 'c')).securityRequirements).toEqual([
      { schemes: { oauth: { list: ['a', 'b', 'c'] } } },
      { schemes: { oauth: { list: ['a', 'b'] }, other: { list: [] } } },
      { schemes: { other: {}, oauth: { list: ['b', 'c'] } } },
      { schemes: { other: { list: [] } } },
    ]);
    const empty = wanting([{}]);
    expect(allOf(empty, empty).securityRequirements).toEqual([{ schemes: {} }]);
  });

  it('finds no credentials where there are none', async () => {
    expect(await allOf(app, user)(request())).toBeUndefined();
  });

  it('says in the card that all are needed, whatever is combined [R-AUTH-01] [R-DM-47]', () => {
    const third = apiKey({ header: 'x-third', name: 'third', keys: new Map() });
    expect(allOf(anyOf(app, user), third).securityRequirements).toEqual([
      { schemes: { app: { list: [] }, third: { list: [] } } },
      { schemes: { user: { list: [] }, third: { list: [] } } },
    ]);
  });
});
