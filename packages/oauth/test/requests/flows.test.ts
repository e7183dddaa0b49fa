import { describe, expect, it } from 'vitest';
import { type OAuthClient, type OAuthOptions, oauth, type StoredToken } from '../../src/index.ts';
import {
  asked,
  authority,
  cardWith,
  confirming,
  issuer,
  login,
  requestTo,
  token,
  tokenUrl,
  withFlow,
} from './authority.ts';

describe('the flow', () => {
  const person = { authorize: confirming() };
  const device = { showDeviceCode: () => expect.unreachable() };
  const machine = { clientSecret: 'secret' };
  const none = { authorization_endpoint: undefined, device_authorization_endpoint: undefined };

  it.each<[string, object, object, Partial<OAuthClient>, string]>([
    ['a page first, then a code, then a secret', {}, { ...person, ...device }, machine, 'authorization_code'],
    [
      'a secret, if the server has neither a page nor codes',
      none,
      { ...person, ...device },
      machine,
      'client_credentials',
    ],
    ['a secret, if there is no person', {}, {}, machine, 'client_credentials'],
  ])('that the metadata leaves open is that of %s', async (_, more, options, client, grant) => {
    const { last } = await asked(login, client, { ...options, metadata: more });
    expect(last.form.grant_type).toBe(grant);
  });

  it.each<[string | undefined, string]>([
    ['clientCredentials', 'a client with a secret, a key or a certificate'],
    ['authorizationCode', '`authorize`'],
    ['deviceCode', '`showDeviceCode`'],
    [undefined, 'a client with a secret, a key or a certificate, or `authorize`, or `showDeviceCode`'],
  ])('%s is not possible without what it needs', async (flow, needs) => {
    const scheme = flow ? withFlow(flow) : login;
    const others: Partial<OAuthOptions> =
      flow === 'authorizationCode'
        ? device
        : flow === 'deviceCode'
          ? person
          : flow
            ? { ...person, ...device }
            : {};
    const client = flow === 'clientCredentials' || !flow ? {} : machine;
    await expect(asked(scheme, client, others)).rejects.toMatchObject({
      code: 'NO_FLOW',
      message: `The scheme s of the card needs ${needs}`,
    });
  });

  it.each(['implicit', 'password'])('%s is not in use any more', async (flow) => {
    await expect(asked(withFlow(flow), machine)).rejects.toMatchObject({
      code: 'NO_FLOW',
      message: 'The scheme s of the card offers no flow in use',
    });
  });

  it('is not there in a card without flows', async () => {
    await expect(asked({ oauth2SecurityScheme: {} } as never, machine)).rejects.toMatchObject({
      code: 'NO_FLOW',
    });
  });

  it.each<[string, object, string]>([
    ['clientCredentials', {}, 'client_credentials'],
    ['authorizationCode', { authorize: confirming() }, 'authorization_code'],
    ['deviceCode', { showDeviceCode() {} }, 'urn:ietf:params:oauth:grant-type:device_code'],
  ])('%s of a card needs no metadata where the token URL is the key', async (flow, options, grant) => {
    const code = {
      device_code: 'd',
      user_code: 'u',
      verification_uri: issuer,
      expires_in: 9,
      interval: 0.01,
    };
    const server = authority({ [tokenUrl]: token('one'), [`${issuer}/device`]: code });
    const clients = { [tokenUrl]: { clientId: 'me', clientSecret: 'secret' } };
    const credentials = oauth({ clients, fetch: server.fetch, ...options });
    expect(await credentials(requestTo(cardWith(withFlow(flow))))).toEqual({ authorization: 'Bearer one' });
    expect(server.asked.at(-1)).toMatchObject({ url: tokenUrl, form: { grant_type: grant } });
    expect(server.urls().filter((url) => url.includes('well-known'))).toEqual([]);
  });
});

describe('a request for a new token', () => {
  const kept: StoredToken = { accessToken: 'old', refreshToken: 'r1', obtainedAt: 0, expiresAt: 1 };

  it.each<[string, object, string, object]>([
    ['at the token endpoint', {}, tokenUrl, {}],
    ['at the address for refreshes', { refreshUrl: `${issuer}/refresh` }, `${issuer}/refresh`, {}],
    ['of a resource', {}, tokenUrl, { resource: 'https://resource.example' }],
  ])('has the refresh token, %s', async (_, more, url, client) => {
    const server = authority({ [url]: token('new') });
    const clients = { [tokenUrl]: { clientId: 'me', parameters: { prompt: 'consent' }, ...client } };
    const store = { get: () => kept, set() {}, delete() {} };
    const card = cardWith(withFlow('authorizationCode', more), ['read']);
    const credentials = oauth({ clients, fetch: server.fetch, store, authorize: () => expect.unreachable() });
    expect(await credentials(requestTo(card))).toEqual({ authorization: 'Bearer new' });
    expect(server.asked).toEqual([
      {
        method: 'POST',
        url,
        headers: expect.anything(),
        form: { grant_type: 'refresh_token', refresh_token: 'r1', client_id: 'me', ...client },
      },
    ]);
  });
});
