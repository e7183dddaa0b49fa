import type { SecurityScheme } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { type OAuthClient, type OAuthOptions, oauth } from '../../src/index.ts';
import { authority, cardWith, requestTo, withFlow } from '../requests/authority.ts';

const one = 'https://one.example';
const oidc = '/.well-known/openid-configuration';
const oauth2 = '/.well-known/oauth-authorization-server';
const me: OAuthClient = { clientId: 'me', clientSecret: 'secret' };

const login = (openIdConnectUrl: string): SecurityScheme => ({
  openIdConnectSecurityScheme: { openIdConnectUrl },
});
const withMetadata = (oauth2MetadataUrl: string, tokenUrl: string): SecurityScheme =>
  ({
    oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: {} } }, oauth2MetadataUrl },
  }) as SecurityScheme;

/** What a client of these servers asks for an agent with this scheme, and how that fails: nothing answers. */
async function outcome(scheme: SecurityScheme, servers: string[], more: Partial<OAuthOptions> = {}) {
  const { fetch, urls } = authority();
  const clients = Object.fromEntries(servers.map((server) => [server, me]));
  const credentials = oauth({ clients, fetch, ...more });
  const failure = Promise.resolve(credentials(requestTo(cardWith(scheme)))).then(
    () => undefined,
    (error) => ({ code: error.code as string, message: error.message as string }),
  );
  return { failure: await failure, asked: urls() };
}

describe('the metadata of the authorization server', () => {
  it.each<[string, SecurityScheme, string, string[]]>([
    ['OpenID Connect', login(`${one}${oidc}`), one, [`${one}${oidc}`]],
    ['OpenID Connect of a tenant', login(`${one}/t${oidc}`), `${one}/t`, [`${one}/t${oidc}`]],
    ['OpenID Connect of a tenant with a slash', login(`${one}/t${oidc}`), `${one}/t/`, [`${one}/t${oidc}`]],
    [
      'OAuth, though the scheme is that of OpenID Connect',
      login(`${one}${oauth2}`),
      one,
      [`${one}${oauth2}`],
    ],
    ['the issuer by a scheme of OpenID Connect', login(one), `${one}/`, [`${one}${oidc}`]],
    ['OAuth', withMetadata(`${one}${oauth2}`, `${one}/token`), one, [`${one}${oauth2}`]],
    [
      'OpenID Connect by a scheme of OAuth',
      withMetadata(`${one}${oidc}`, `${one}/token`),
      one,
      [`${one}${oidc}`],
    ],
    ['the issuer by a scheme of OAuth', withMetadata(one, `${one}/token`), one, [`${one}${oauth2}`]],
    [
      'OAuth of a tenant',
      withMetadata(`${one}${oauth2}/t`, `${one}/token`),
      `${one}/t`,
      [`${one}${oauth2}/t`],
    ],
    [
      'OAuth of a tenant, behind its path',
      withMetadata(`${one}/t${oauth2}`, `${one}/token`),
      `${one}/t`,
      [`${one}${oauth2}/t`],
    ],
    [
      'nothing but a token URL',
      withFlow('clientCredentials', { tokenUrl: `${one}/token` }),
      one,
      [`${one}${oauth2}`, `${one}${oidc}`],
    ],
    [
      'unknown metadata and a known token URL',
      withMetadata('https://evil.example', `${one}/token`),
      one,
      [`${one}${oauth2}`, `${one}${oidc}`],
    ],
    [
      'no URL for metadata and a known token URL',
      withMetadata('evil', `${one}/token`),
      one,
      [`${one}${oauth2}`, `${one}${oidc}`],
    ],
  ])('is asked for where it must be if the card names %s', async (_, scheme, server, asked) => {
    const found = await outcome(scheme, ['https://other.example', server]);
    expect(found.asked).toEqual(asked);
    expect(found.failure).toMatchObject({
      code: 'METADATA',
      message: expect.stringMatching(/^The issuer https:\/\/one\.example\/\S* gives no usable answer: ./),
    });
  });
});

describe('a server that is not in `clients`', () => {
  const says = (url: string) =>
    `The scheme s of the card names ${url}, whose authorization server is not in \`clients\``;

  it.each<[SecurityScheme, string]>([
    [login('https://evil.example/x'), 'https://evil.example/x'],
    [login('evil'), 'no URL'],
    [withMetadata('https://evil.example/m', 'https://evil.example/token'), 'https://evil.example/m'],
    [withFlow('clientCredentials', { tokenUrl: 'https://evil.example/token' }), 'https://evil.example/token'],
    [withFlow('clientCredentials', { tokenUrl: 'evil' }), 'no URL'],
    [login(`${one}/.well-known/other`), `${one}/.well-known/other`],
    [login(`${one}/other${oidc}`), `${one}/other${oidc}`],
  ])('is named in the error, and asked nothing: %j', async (scheme, url) => {
    expect(await outcome(scheme, [one])).toEqual({
      failure: { code: 'NO_CLIENT', message: says(url) },
      asked: [],
    });
  });
});

describe('the endpoints of a card whose token URL is a key', () => {
  const key = `${one}/token`;
  const urls = ['authorizationUrl', 'deviceAuthorizationUrl', 'refreshUrl'];

  it.each(urls.map((name) => [name]))('may have an %s of the same origin only', async (name) => {
    const flow = (url: string) => withFlow('clientCredentials', { tokenUrl: key, [name]: url });
    expect(await outcome(flow(`${one}/${name}`), [key])).toMatchObject({
      failure: { code: 'INVALID_ANSWER' },
      asked: [key],
    });
    expect(await outcome(flow('https://one.example:8443/x'), [key])).toEqual({
      failure: {
        code: 'NO_CLIENT',
        message: `The ${name} of the card, https://one.example:8443/x, is not at ${one}`,
      },
      asked: [],
    });
    expect(await outcome(flow('http://one.example/x'), [key])).toEqual({
      failure: {
        code: 'INSECURE_URL',
        message: `The ${name} of the card is http://one.example/x: it must be https, or http on this machine`,
      },
      asked: [],
    });
  });

  it('are asked, and not the metadata of an issuer of the same origin', async () => {
    expect((await outcome(withFlow('clientCredentials', { tokenUrl: key }), [one, key])).asked).toEqual([
      key,
    ]);
  });
});

describe('a token URL of a known origin', () => {
  it.each([
    [`${one}/token`, true],
    [`${one}:443/token`, true],
    [`${one}/other`, false],
  ])('%s must be the one of the metadata', async (tokenUrl, isThere) => {
    const { fetch, asked } = authority({
      [`${one}${oauth2}`]: { issuer: one, token_endpoint: `${one}/token` },
      [`${one}/token`]: { access_token: 'good', token_type: 'bearer' },
    });
    const credentials = oauth({ clients: { [one]: me }, fetch });
    const given = Promise.resolve(
      credentials(requestTo(cardWith(withFlow('clientCredentials', { tokenUrl })))),
    );
    if (isThere) expect(await given).toEqual({ authorization: 'Bearer good' });
    else
      await expect(given).rejects.toMatchObject({
        code: 'NO_CLIENT',
        message: `The token URL of the card, ${one}/other, is not that of ${one}/; add it to \`clients\``,
      });
    expect(asked.map(({ method }) => method)).toEqual(isThere ? ['GET', 'POST'] : ['GET']);
  });

  it('needs a token endpoint in the metadata', async () => {
    const { fetch } = authority({ [`${one}${oauth2}`]: { issuer: one } });
    const credentials = oauth({ clients: { [one]: me }, fetch });
    const card = cardWith(withFlow('clientCredentials', { tokenUrl: `${one}/token` }));
    await expect(Promise.resolve(credentials(requestTo(card)))).rejects.toMatchObject({
      code: 'METADATA',
      message: `The issuer ${one}/ has no token endpoint`,
    });
  });
});

describe('a scope that the client does not allow', () => {
  it('is named in the error, at most 100 characters of it', async () => {
    const { fetch, asked } = authority();
    const clients = { [one]: { ...me, scopes: ['read'] } };
    const card = cardWith(login(`${one}${oidc}`), ['read', `w${'x'.repeat(200)}`]);
    await expect(Promise.resolve(oauth({ clients, fetch })(requestTo(card)))).rejects.toMatchObject({
      code: 'SCOPE_NOT_ALLOWED',
      message: `The agent asks for the scope w${'x'.repeat(99)}`,
    });
    expect(asked).toEqual([]);
  });
});
