import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OAuthClient, OAuthOptions } from '../../src/index.ts';
import { asked, confirming, issuer, login, token, tokenUrl } from './authority.ts';

const form = 'application/x-www-form-urlencoded;charset=UTF-8';
const basic = `Basic ${btoa('me:secret')}`;
const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
  'sign',
  'verify',
]);

describe('a request for a token by client credentials', () => {
  it('has the secret and what the card and the client ask for', async () => {
    const { headers, server, last } = await asked(
      login,
      {
        clientSecret: 'secret',
        extraScopes: ['offline_access', 'read'],
        parameters: { audience: 'https://api.example' },
        resource: 'https://resource.example',
      },
      { scopes: ['read', 'write'] },
    );
    expect(headers).toEqual({ authorization: 'Bearer one' });
    expect(server.urls()).toEqual([`${issuer}/.well-known/openid-configuration`, tokenUrl]);
    expect(last).toEqual({
      method: 'POST',
      url: tokenUrl,
      headers: expect.objectContaining({
        authorization: basic,
        accept: 'application/json',
        'content-type': form,
      }),
      form: {
        grant_type: 'client_credentials',
        scope: 'read write offline_access',
        resource: 'https://resource.example',
        audience: 'https://api.example',
      },
    });
  });

  it('has neither a scope nor a resource where nobody asks for one', async () => {
    expect((await asked(login, { clientSecret: 'secret' })).last.form).toEqual({
      grant_type: 'client_credentials',
    });
  });

  it('has the origin of the agent as its resource where the client says so', async () => {
    const { last } = await asked(login, { clientSecret: 'secret', resource: true });
    expect(last.form.resource).toBe('https://agent.example');
  });

  it.each<[string, object, boolean]>([
    ['nothing', {}, false],
    ['the form only', { token_endpoint_auth_methods_supported: ['client_secret_post'] }, true],
    ['both', { token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'] }, false],
    ['neither', { token_endpoint_auth_methods_supported: ['private_key_jwt'] }, false],
  ])('has the secret where the metadata wants it, which lists %s', async (_, more, isInForm) => {
    const { last } = await asked(login, { clientSecret: 'secret' }, { metadata: more });
    expect(last.headers.authorization).toBe(isInForm ? undefined : basic);
    expect([last.form.client_id, last.form.client_secret]).toEqual(
      isInForm ? ['me', 'secret'] : [undefined, undefined],
    );
  });

  it.each<[string, OAuthClient['privateKey'], object]>([
    ['', keys.privateKey, { alg: 'ES256' }],
    [' with its name', { key: keys.privateKey, kid: 'k1' }, { alg: 'ES256', kid: 'k1' }],
  ])('is signed with a key%s, and does not have the secret beside it', async (_, privateKey, head) => {
    const { last } = await asked(login, { privateKey, clientSecret: 'secret' });
    const { client_assertion: assertion = '', ...rest } = last.form;
    expect(rest).toEqual({
      grant_type: 'client_credentials',
      client_id: 'me',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
    expect(last.headers).not.toHaveProperty('authorization');
    const [header, claims] = assertion.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(header!)).toEqual(head);
    expect(JSON.parse(claims!)).toMatchObject({ iss: 'me', sub: 'me', aud: issuer });
  });

  it.each([
    [true, `${issuer}/mtls`],
    [false, tokenUrl],
  ])('goes to the endpoint for certificates if there is one: %s', async (certificate, url) => {
    const more = { mtls_endpoint_aliases: { token_endpoint: `${issuer}/mtls` } };
    const answers = { [`${issuer}/mtls`]: token('two') };
    const secrets = { clientSecret: 'secret', privateKey: keys.privateKey };
    const client = certificate ? { certificate, ...secrets } : { clientSecret: 'secret' };
    const { last } = await asked(login, client, { metadata: more, answers });
    expect(last.url).toBe(url);
    expect(last.headers.authorization).toBe(certificate ? undefined : basic);
    expect(last.form).toEqual({ grant_type: 'client_credentials', ...(certificate && { client_id: 'me' }) });
  });
});

describe('a request for a token of a person', () => {
  const client = { resource: 'https://resource.example', parameters: { prompt: 'consent' } };

  it('begins with a page, whose code is redeemed at the token endpoint', async () => {
    const pages: URL[] = [];
    const { headers, last } = await asked(login, client, { authorize: confirming(pages), scopes: ['read'] });
    const { state, code_challenge: challenge, ...page } = Object.fromEntries(pages[0]!.searchParams);
    expect(`${pages[0]!.origin}${pages[0]!.pathname}`).toBe(`${issuer}/auth`);
    expect(page).toEqual({
      response_type: 'code',
      client_id: 'me',
      redirect_uri: 'http://127.0.0.1:8/callback',
      code_challenge_method: 'S256',
      scope: 'read',
      resource: 'https://resource.example',
      prompt: 'consent',
    });
    expect(state).toMatch(/^[\w-]{43}$/);
    const { code_verifier: verifier = '', ...form } = last.form;
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(challenge);
    expect(form).toEqual({
      grant_type: 'authorization_code',
      code: 'the-code',
      redirect_uri: 'http://127.0.0.1:8/callback',
      resource: 'https://resource.example',
      client_id: 'me',
    });
    expect(headers).toEqual({ authorization: 'Bearer one' });
  });

  it('names no resource where the client has none', async () => {
    const pages: URL[] = [];
    const { last } = await asked(login, {}, { authorize: confirming(pages) });
    expect([...pages[0]!.searchParams.keys()]).not.toContain('resource');
    expect(last.form).not.toHaveProperty('resource');
  });

  it('takes nothing but the query of the address that the person ends at', async () => {
    const authorize: OAuthOptions['authorize'] = async (begin) => {
      const url = new URL(await confirming()(begin));
      url.host = 'elsewhere.example';
      return url;
    };
    const { last } = await asked(login, {}, { authorize });
    expect(last.form.redirect_uri).toBe('http://127.0.0.1:8/callback');
  });

  it('fails if `authorize` does not begin', async () => {
    await expect(
      asked(login, {}, { authorize: async () => 'http://127.0.0.1/?code=x' }),
    ).rejects.toMatchObject({
      code: 'REFUSED',
      message: '`authorize` did not call `begin`',
    });
  });

  const device = {
    device_code: 'd',
    user_code: 'ABCD-EFGH',
    verification_uri: `${issuer}/activate`,
    verification_uri_complete: `${issuer}/activate?code=ABCD-EFGH`,
    expires_in: 600,
    interval: 0.01,
  };

  it.each([
    [600, 600_000],
    [1_800, 1_800_000],
    [1_801, 1_800_000],
  ])(
    'shows a code that is valid for %i s, and waits for the person for %i ms',
    async (expiresIn, validMs) => {
      const shown: unknown[] = [];
      let questions = 0;
      const { last, server } = await asked(login, client, {
        now: () => 1_000,
        showDeviceCode: (code) => shown.push(code),
        scopes: ['read'],
        answers: {
          [`${issuer}/device`]: { ...device, expires_in: expiresIn },
          [tokenUrl]: () =>
            questions++ === 0
              ? Response.json({ error: 'authorization_pending' }, { status: 400 })
              : token('one'),
        },
      });
      expect(shown).toEqual([
        {
          userCode: 'ABCD-EFGH',
          verificationUri: `${issuer}/activate`,
          verificationUriComplete: `${issuer}/activate?code=ABCD-EFGH`,
          expiresAt: 1_000 + validMs,
        },
      ]);
      expect(server.asked.find(({ url }) => url === `${issuer}/device`)?.form).toEqual({
        client_id: 'me',
        scope: 'read',
        resource: 'https://resource.example',
        prompt: 'consent',
      });
      expect(last.form).toEqual({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'me',
        device_code: 'd',
        resource: 'https://resource.example',
      });
    },
  );

  it('shows no code whose page is not safe', async () => {
    const showDeviceCode = () => expect.unreachable();
    const answers = { [`${issuer}/device`]: { ...device, verification_uri: 'http://id.example/activate' } };
    await expect(asked(login, {}, { showDeviceCode, answers })).rejects.toMatchObject({
      code: 'INSECURE_URL',
      message:
        'The verification URL of the authorization server is http://id.example/activate: it must be https, or http on this machine',
    });
  });

  it('ends when the code is over', async () => {
    const answers = {
      [`${issuer}/device`]: { ...device, expires_in: 0.03 },
      [tokenUrl]: () => Response.json({ error: 'authorization_pending' }, { status: 400 }),
    };
    await expect(asked(login, {}, { showDeviceCode() {}, answers })).rejects.toMatchObject({
      code: 'REFUSED',
      message: 'Nobody confirmed the code within 30 ms',
    });
  });

  it.each([
    ['access_denied', 'REFUSED'],
    ['expired_token', 'REFUSED'],
  ])('ends when the server answers %s', async (error, code) => {
    const answers = {
      [`${issuer}/device`]: device,
      [tokenUrl]: () => Response.json({ error }, { status: 400 }),
    };
    await expect(asked(login, {}, { showDeviceCode() {}, answers })).rejects.toMatchObject({
      code,
      reason: error,
    });
  });
});
