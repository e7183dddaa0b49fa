import { createServer, type RequestListener } from 'node:http';
import { inspect } from 'node:util';
import type { AgentCard, SecurityScheme } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { type OAuthOptions, oauth } from '../src/index.ts';
import { audience, failureOf, schemes } from './agent.ts';

const secret = 'hunter2-of-the-client';

const cardWith = (scheme: SecurityScheme, scopes: string[] = []) =>
  ({
    securitySchemes: { s: scheme },
    securityRequirements: [{ schemes: { s: { list: scopes } } }],
  }) as unknown as AgentCard;

/** The first request to an agent with this card. */
const first = (card: AgentCard, options: OAuthOptions, url = `${audience}/rpc`, isTrusted = true) =>
  Promise.resolve(oauth(options)({ url, card, isTrusted }));

const clientOf = (server: string, more: object = {}): OAuthOptions => ({
  clients: { [server]: { clientId: 'me', clientSecret: secret, ...more } },
});

/** A `fetch` that only notes what it is asked. */
function noting() {
  const asked: string[] = [];
  const fetch = async (request: Request) => {
    asked.push(request.url);
    return new Response('{}', { status: 500 });
  };
  return { asked, fetch };
}

const mine = 'https://id.example';

describe('the card of a stranger', () => {
  it.each<[string, SecurityScheme]>([
    ['a token URL', schemes('https://evil.example').machine],
    ['an authorization URL', schemes('https://evil.example').person],
    ['metadata of OAuth', schemes('https://evil.example').device],
    ['metadata of OpenID Connect', schemes('https://evil.example').login],
    ['metadata below the issuer', { openIdConnectSecurityScheme: { openIdConnectUrl: `${mine}/evil` } }],
    [
      'a name that begins like the issuer',
      {
        openIdConnectSecurityScheme: {
          openIdConnectUrl: `${mine}.evil.example/.well-known/openid-configuration`,
        },
      },
    ],
    [
      'credentials in the address',
      { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://id.example@evil.example/' } },
    ],
    ['no URL', { openIdConnectSecurityScheme: { openIdConnectUrl: 'evil' } }],
  ])('that names %s of a server that is not in `clients` has nothing sent there', async (_, scheme) => {
    const { asked, fetch } = noting();
    const options = { ...clientOf(mine), fetch, authorize: () => expect.unreachable(), showDeviceCode() {} };
    const error = await failureOf(first(cardWith(scheme), options));
    expect(error).toMatchObject({ name: 'OAuthError', code: 'NO_CLIENT' });
    expect(error.message).toMatch(/^The scheme s of the card names /);
    expect(asked).toEqual([]);
  });

  it.each([
    ['authorizationUrl', schemes(mine).person],
    ['deviceAuthorizationUrl', schemes(mine).device],
    ['refreshUrl', schemes(mine).machine],
  ])('cannot combine a known token URL with an %s of its own', async (name, scheme) => {
    const { asked, fetch } = noting();
    const { oauth2SecurityScheme } = structuredClone(scheme) as { oauth2SecurityScheme: { flows: object } };
    const [flow] = Object.values(oauth2SecurityScheme.flows);
    flow[name] = 'https://evil.example/auth';
    const card = cardWith({ oauth2SecurityScheme } as SecurityScheme);
    expect(await failureOf(first(card, { ...clientOf(`${mine}/token`), fetch }))).toMatchObject({
      code: 'NO_CLIENT',
      message: `The ${name} of the card, https://evil.example/auth, is not at ${mine}`,
    });
    expect(asked).toEqual([]);
  });

  it.each<[string, string, boolean, string]>([
    ['another origin than the one that the program named', 'https://evil.example/rpc', false, 'NOT_TRUSTED'],
    ['an address without TLS', 'http://agent.example/rpc', true, 'INSECURE_URL'],
  ])('that lists %s gets no token there', async (_, url, isTrusted, code) => {
    const { asked, fetch } = noting();
    const options = { ...clientOf(mine), fetch };
    expect(await failureOf(first(cardWith(schemes(mine).machine), options, url, isTrusted))).toMatchObject({
      code,
    });
    expect(asked).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['for other agents', { agents: ['https://other.example'] }, 'NO_CLIENT'],
    ['for other scopes', { scopes: ['list'] }, 'SCOPE_NOT_ALLOWED'],
  ])('gets no token of a client %s', async (_, more, code) => {
    const { asked, fetch } = noting();
    const card = cardWith(schemes(mine).machine, ['read']);
    expect(await failureOf(first(card, { ...clientOf(mine, more), fetch }))).toMatchObject({ code });
    expect(asked).toEqual([]);
  });

  it.each<[string, Partial<AgentCard> | undefined]>([
    ['which is not known yet', undefined],
    ['without requirements', { securitySchemes: { s: schemes(mine).machine } }],
    ['that lets anyone in', { ...cardWith(schemes(mine).machine), securityRequirements: [{}] }],
    ['that wants an API key', cardWith({ apiKeySecurityScheme: { location: 'header', name: 'X-Key' } })],
    [
      'whose requirement names no scheme of its own',
      { securityRequirements: [{ schemes: { toString: {} } }] },
    ],
  ])('%s needs no token', async (_, card) => {
    const { asked, fetch } = noting();
    expect(await first(card as AgentCard, { ...clientOf(mine), fetch })).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it.each([
    'Bearer',
    'Bearer error="insufficient_scope", scope="',
    'x'.repeat(100_000),
    '", "\\',
    'Basic realm="a"',
    'Bearer realm="€"',
  ])('and a broken challenge of its agent make no error: %.50s', async (challenge) => {
    const card = { securitySchemes: {}, securityRequirements: [] } as unknown as AgentCard;
    const request = { url: audience, card, isTrusted: true, challenge, refused: {} };
    expect(await oauth(clientOf(mine))(request)).toBeUndefined();
  });

  it.each([
    ['of another origin', 'https://evil.example/rpc', false],
    ['without TLS', 'http://agent.example/rpc', true],
  ])('that lets anyone in is called without a token at an address %s', async (_, url, isTrusted) => {
    const { asked, fetch } = noting();
    const card = cardWith(schemes(mine).machine);
    const open = { ...card, securityRequirements: [...(card.securityRequirements ?? []), {}] } as AgentCard;
    expect(await first(open, { ...clientOf(mine), fetch }, url, isTrusted)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('that needs a flow of a person fails where there is none', async () => {
    const error = await failureOf(first(cardWith(schemes(mine).person), clientOf(`${mine}/token`)));
    expect(error).toMatchObject({ code: 'NO_FLOW', message: 'The scheme s of the card needs `authorize`' });
  });
});

describe('an authorization server', () => {
  const canary = 'canary-in-an-answer';
  const json =
    (value: unknown, status = 200): RequestListener =>
    (_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

  const metadata = async (answer: (issuer: string) => RequestListener) => {
    let issuer = '';
    issuer = await listen(createServer((request, response) => answer(issuer)(request, response)));
    return { card: cardWith(schemes(issuer).login), options: clientOf(issuer) };
  };

  it.each<[string, (issuer: string) => RequestListener, string]>([
    ['metadata of another issuer', () => json({ issuer: mine, token_endpoint: `${mine}/token` }), 'METADATA'],
    ['metadata without an issuer', () => json({ token_endpoint: `${mine}/token` }), 'METADATA'],
    ['metadata without a token endpoint', (issuer) => json({ issuer }), 'METADATA'],
    [
      'a token endpoint without TLS',
      (issuer) => json({ issuer, token_endpoint: 'http://id.example/token' }),
      'INSECURE_URL',
    ],
    [
      'a token endpoint that is no URL',
      (issuer) => json({ issuer, token_endpoint: 'token' }),
      'INSECURE_URL',
    ],
    [
      'an authorization endpoint that is a script',
      (issuer) => json({ issuer, token_endpoint: `${issuer}/token`, authorization_endpoint: 'javascript:1' }),
      'INSECURE_URL',
    ],
    ['metadata that is a list', () => json([]), 'METADATA'],
    ['no metadata', () => json({}, 404), 'METADATA'],
    ['text', () => (_, response) => response.end('Hello'), 'METADATA'],
    [
      'a redirect',
      () => (_, response) => response.writeHead(302, { location: `${mine}/metadata` }).end(),
      'METADATA',
    ],
    ['an endless answer', () => endless, 'METADATA'],
    ['half an answer', () => (_, response) => void response.write('{', () => response.destroy()), 'NETWORK'],
  ])('with %s is refused, and told nothing', async (_, answer, code) => {
    const { card, options } = await metadata(answer);
    const error = await failureOf(first(card, options));
    expect(error).toMatchObject({ name: 'OAuthError', code });
    expect(inspect(error, { depth: 20 })).not.toContain(secret);
  });

  it('with an endpoint for certificates without TLS is told nothing', async () => {
    const { card, options } = await metadata((issuer) =>
      json({
        issuer,
        token_endpoint: `${issuer}/token`,
        mtls_endpoint_aliases: { token_endpoint: 'http://id.example/token' },
      }),
    );
    const [[issuer = ''] = []] = Object.entries(options.clients);
    const asked: string[] = [];
    const sending = (request: Request) => {
      asked.push(request.url);
      return fetch(request);
    };
    const certified = { ...clientOf(issuer, { certificate: true }), fetch: sending };
    expect(await failureOf(first(card, certified))).toMatchObject({ code: 'INSECURE_URL' });
    expect(asked).toEqual([`${issuer}/.well-known/openid-configuration`]);
  });

  const token = { access_token: canary, token_type: 'Bearer' };

  it.each<[string, RequestListener, string]>([
    ['without access_token', json({ token_type: 'Bearer', refresh_token: canary }), 'INVALID_ANSWER'],
    [
      'whose access_token is a number',
      json({ ...token, access_token: 7, refresh_token: canary }),
      'INVALID_ANSWER',
    ],
    [
      'whose access_token has a line break',
      json({ ...token, access_token: `${canary}\r\nX-Evil: 1` }),
      'INVALID_ANSWER',
    ],
    ['without token_type', json({ access_token: canary }), 'INVALID_ANSWER'],
    ['of a token that is bound to a key', json({ ...token, token_type: 'DPoP' }), 'INVALID_ANSWER'],
    ['whose lifetime is no number', json({ ...token, expires_in: 'soon' }), 'INVALID_ANSWER'],
    [
      'that is HTML',
      (_, response) => response.setHeader('content-type', 'text/html').end(`<p>${canary}`),
      'INVALID_ANSWER',
    ],
    ['that is cut off', (_, response) => response.end(JSON.stringify(token).slice(0, -2)), 'INVALID_ANSWER'],
    ['that never ends', (request, response) => endless(request, response), 'INVALID_ANSWER'],
    [
      'that redirects',
      (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      'INVALID_ANSWER',
    ],
    ['of status 500', (_, response) => response.writeHead(500).end(canary), 'INVALID_ANSWER'],
    ['with an error', json({ error: 'invalid_client', error_description: 'Go\u0007 away' }, 400), 'REFUSED'],
    ['that breaks off', (_, response) => response.destroy(), 'NETWORK'],
  ])('with an answer %s gives no token, and the error has no secret', async (_, answer, code) => {
    const asked: string[] = [];
    const issuer = await listen(
      createServer((request, response) => {
        asked.push(request.url ?? '');
        answer(request, response);
      }),
    );
    const error = await failureOf(first(cardWith(schemes(issuer).machine), clientOf(`${issuer}/token`)));
    expect(error).toMatchObject({ name: 'OAuthError', code });
    const shown = inspect(error, { depth: 20 });
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(canary);
    expect(shown).not.toContain('\u0007');
    expect(asked).toEqual(['/token']);
  });

  it('that does not answer fails in time', async () => {
    const issuer = await listen(createServer(() => {}));
    const options = { ...clientOf(`${issuer}/token`), timeoutMs: 20 };
    const error = await failureOf(first(cardWith(schemes(issuer).machine), options));
    expect(error).toMatchObject({ code: 'NETWORK', message: `${issuer}/token does not answer in time` });
  });
});

/** Sends until the other side hangs up. */
const endless: RequestListener = (_, response) => {
  const line = ' '.repeat(65_536);
  const more = () => {
    while (!response.destroyed && response.write(line));
  };
  response.writeHead(200, { 'content-type': 'application/json' }).on('drain', more);
  more();
};
