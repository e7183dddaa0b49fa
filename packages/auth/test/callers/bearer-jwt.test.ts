import { describe, expect, it } from 'vitest';
import type { BearerJwtOptions } from '../../src/index.ts';
import { newKey } from '../keys/sample-keys.ts';
import { refusal, request } from './request.ts';
import { audience, authenticator, bearer, issuer, key, start, token } from './tokens.ts';

describe('bearerJwt', () => {
  it.each(['P-256', 'P-384', 'Ed25519', 'RSA'] as const)(
    'knows the caller by a token signed with %s [R-AUTH-02]',
    async (curve) => {
      const signer = newKey('k', curve);
      const jwt = await token({ scope: 'tasks:read tasks:write' }, signer);
      expect(await authenticator({ jwks: [signer] })(bearer(jwt))).toEqual({
        scope: `["${issuer}","ada"]`,
        claims: { iss: issuer, sub: 'ada', scopes: ['tasks:read', 'tasks:write'] },
        scopes: ['tasks:read', 'tasks:write'],
        schemes: ['bearer'],
      });
    },
  );

  it.each([
    [request()],
    [request({ authorization: 'Basic YTpi' })],
    [request({ authorization: 'Bearer' })],
    [request({ authorization: 'Bearer ' })],
    [request({}, 'access_token=x')],
  ])('finds no credentials in %j', async (sent) => {
    expect(await authenticator()(sent)).toBeUndefined();
  });

  it('reads the scheme in any case', async () => {
    const jwt = await token();
    expect(await authenticator()(request({ authorization: `bEaReR   ${jwt}` }))).toMatchObject({
      scopes: [],
    });
  });

  const unsigned = (header: object) =>
    `${btoa(JSON.stringify(header))}.${btoa(JSON.stringify({ iss: issuer, aud: audience, sub: 'ada', exp: 9e9 }))}.`.replaceAll(
      '=',
      '',
    );
  it.each<[string, () => Promise<string>]>([
    ['is expired', () => token({ exp: start / 1_000 })],
    ['is not valid yet', () => token({ nbf: start / 1_000 + 3_000 })],
    ['never expires', () => token({ exp: undefined })],
    ['has no `sub`', () => token({ sub: undefined })],
    ['has an empty name', () => token({ sub: '' })],
    ['has a number for a name', () => token({ sub: 7 })],
    ['has a list for a name', () => token({ sub: ['ada'] })],
    ['has null for a name', () => token({ sub: null })],
    ['is of another issuer', () => token({ iss: 'https://other.example' })],
    ['is for another agent', () => token({ aud: 'https://other.example' })],
    ['has no audience', () => token({ aud: undefined })],
    ['is signed by another key of the same name', () => token({}, newKey('k-1'))],
    ['is signed by an unknown key', () => token({}, newKey('k-2'))],
    ['is not signed', async () => unsigned({ alg: 'none' })],
    ['is signed with a secret', () => token({}, { kty: 'oct', k: btoa('x'.repeat(32)), kid: 'k-1' })],
    ['has been changed', async () => (await token()).replace(/\.(...)/, '.AAA')],
    [
      'requires an unknown extension of JWS',
      () => token({}, key, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'),
    ],
    ['is no token', async () => 'secret'],
    ['is two', async () => `${await token()}, ${await token()}`],
  ])('refuses a token that %s, and says nothing of it [R-ERR-08] [R-ERR-11]', async (_, make) => {
    const jwt = await make();
    const error = await refusal(authenticator(), bearer(jwt));
    expect(error).toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: expect.stringMatching(/^The token (is|has)/),
    });
    expect(error.challenge).toMatch(
      /^Bearer realm="bearer", error="invalid_token", error_description="The token .*"$/,
    );
    expect(error.metadata).toBeUndefined();
    expect(error.cause).toBeUndefined();
  });

  it.each(['xBearer ', 'Basic Bearer '])('finds no credentials after %j', async (scheme) => {
    expect(await authenticator()(request({ authorization: scheme + (await token()) }))).toBeUndefined();
  });

  it('reads a token without the spaces around it', async () => {
    const sent = request({ authorization: `Bearer   ${await token()}  ` });
    expect(await authenticator()(sent)).toBeDefined();
  });

  it('accepts several issuers and audiences', async () => {
    const authenticate = authenticator({ issuer: ['x', issuer], audience: ['y', audience] });
    expect(await authenticate(bearer(await token()))).toBeDefined();
    for (const claims of [{ iss: 'z' }, { aud: 'z' }])
      expect(await refusal(authenticate, bearer(await token(claims)))).toMatchObject({
        reason: 'UNAUTHENTICATED',
      });
  });

  it('names all scopes that are missing in the text, too', async () => {
    const error = await refusal(authenticator({ scopes: ['a', 'b'] }), bearer(await token({ scope: 'c' })));
    expect(error.message).toBe('The token lacks the scope a b');
  });

  it('allows for clocks that differ a little', async () => {
    const jwt = await token({ exp: start / 1_000 + 58 });
    expect(await authenticator()(bearer(jwt))).toBeDefined();
    expect(await refusal(authenticator({ clockToleranceSeconds: 1 }), bearer(jwt))).toMatchObject({
      reason: 'UNAUTHENTICATED',
      message: 'The token has expired',
    });
  });

  it.each([
    ['exp', 4, true],
    ['exp', 5, false],
    ['exp', 60, false],
    ['nbf', -5, true],
    ['nbf', -6, false],
  ])('accepts clocks that differ by five seconds by default: %s, %d', async (claim, seconds, accepted) => {
    const authenticate = authenticator();
    const sent = bearer(await token({ [claim]: start / 1_000 + 60 - seconds }));
    if (accepted) expect(await authenticate(sent)).toBeDefined();
    else expect(await refusal(authenticate, sent)).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it('names the scope that is missing, and only that [R-ERR-08]', async () => {
    const authenticate = authenticator({ scopes: ['tasks:read', 'tasks:write'], name: 'oauth' });
    const error = await refusal(authenticate, bearer(await token({ scope: 'tasks:read other' })));
    expect(error).toMatchObject({
      reason: 'PERMISSION_DENIED',
      metadata: { scope: 'tasks:write' },
      challenge: 'Bearer realm="oauth", error="insufficient_scope", scope="tasks:write"',
    });
    expect(JSON.stringify([error, error.message])).not.toMatch(/other|"ada/);
    expect(await authenticate(bearer(await token({ scp: ['tasks:write', 'tasks:read'] })))).toBeDefined();
  });

  it.each<[Partial<BearerJwtOptions>, object, string[]]>([
    [{}, { scp: ['a', 'b', 1] }, ['a', 'b']],
    [{}, { scope: ' a  b ' }, ['a', 'b']],
    [{ scopesClaim: 'roles' }, { roles: ['a'], scope: 'b' }, ['a']],
    [{ scopesClaim: 'roles' }, { scope: 'b' }, []],
    [{}, { scope: { a: 1 } }, []],
  ])('reads scopes with %j from %j', async (options, claims, scopes) => {
    expect(await authenticator(options)(bearer(await token({ ...claims })))).toMatchObject({ scopes });
  });

  it('lets the owner decide who a token stands for', async () => {
    const authenticate = authenticator({ caller: ({ org }) => ({ scope: String(org) }) });
    expect(await authenticate(bearer(await token({ org: 'acme' })))).toEqual({
      scope: 'acme',
      schemes: ['bearer'],
    });
  });

  it('says in the card what it wants [R-AUTH-01] [R-DM-47] [R-DM-48]', () => {
    expect({ ...authenticator({ scopes: ['tasks'] }) }).toMatchObject({
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
      securityRequirements: [{ schemes: { bearer: { list: ['tasks'] } } }],
    });
    const scheme = { openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/openid-configuration` } };
    expect(authenticator({ name: 'oidc', scheme }).securitySchemes).toEqual({ oidc: scheme });
  });
});
