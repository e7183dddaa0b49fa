import { describe, expect, it } from 'vitest';
import { type OAuthOptions, oauth } from '../../src/index.ts';
import {
  authority,
  cardWith,
  confirming,
  issuer,
  login,
  metadata,
  requestTo,
  token,
  tokenUrl,
  withFlow,
} from './authority.ts';

type Fetch = NonNullable<OAuthOptions['fetch']>;

/** The header for an agent whose authorization server has no metadata and answers so; or the error. */
async function given(fetch: Fetch, more: Partial<OAuthOptions> = {}, flow = 'clientCredentials') {
  const clients = { [tokenUrl]: { clientId: 'me', clientSecret: 'secret' } };
  try {
    const headers = await oauth({ clients, fetch, ...more })(requestTo(cardWith(withFlow(flow))));
    return headers?.authorization;
  } catch (error) {
    const { name, code, message, reason } = error as Record<string, unknown>;
    return name === 'OAuthError' ? { code, message, ...(reason !== undefined && { reason }) } : error;
  }
}

const server = `The authorization server ${tokenUrl}`;
const answered =
  (status: number, body: BodyInit | null = null, headers: Record<string, string> = {}): Fetch =>
  async () =>
    new Response(body, { status, headers });
const error =
  (members: object, status = 400): Fetch =>
  async () =>
    Response.json(members, { status });

describe('an answer of an authorization server', () => {
  it.each<[string, Fetch, object]>([
    [
      'an error',
      error({ error: 'invalid_scope' }),
      { code: 'REFUSED', message: `${server} refuses with invalid_scope`, reason: 'invalid_scope' },
    ],
    [
      'an error with words',
      error({ error: 'invalid_scope', error_description: 'No\nwrite', error_uri: 'https://x.example' }),
      { code: 'REFUSED', message: `${server} refuses with invalid_scope: No?write`, reason: 'invalid_scope' },
    ],
    [
      'an error with a strange code',
      error({ error: `a\u001b~ \u00e9${'x'.repeat(300)}` }),
      {
        code: 'REFUSED',
        message: `${server} refuses with a?~ ?${'x'.repeat(195)}`,
        reason: `a?~ ?${'x'.repeat(195)}`,
      },
    ],
    [
      'a challenge',
      answered(401, null, { 'www-authenticate': 'Basic realm="x"' }),
      { code: 'REFUSED', message: `${server} refuses the client with the status 401` },
    ],
    [
      'a page',
      answered(200, '<p>', { 'content-type': 'text/html' }),
      { code: 'INVALID_ANSWER', message: expect.stringMatching(`^${server} gives no usable answer: .`) },
    ],
    [
      'nothing',
      answered(204),
      { code: 'INVALID_ANSWER', message: expect.stringContaining('no usable answer') },
    ],
    ['status 299', answered(299, '{}'), { message: expect.stringContaining('no usable answer') }],
    [
      'status 300',
      answered(300, '{}'),
      { code: 'INVALID_ANSWER', message: `${tokenUrl} redirects, which it must not` },
    ],
    [
      'status 302',
      answered(302, null, { location: '/x' }),
      { message: `${tokenUrl} redirects, which it must not` },
    ],
    ['status 399', answered(399, '{}'), { message: `${tokenUrl} redirects, which it must not` }],
    ['status 400', answered(400, '{}'), { message: expect.stringContaining('no usable answer') }],
    [
      'a redirect that a browser hides',
      async () => ({ status: 0, type: 'opaqueredirect', headers: new Headers(), body: null }) as Response,
      { code: 'INVALID_ANSWER', message: `${tokenUrl} redirects, which it must not` },
    ],
    [
      'no connection',
      () => Promise.reject(new Error('secret')),
      { code: 'NETWORK', message: `${tokenUrl} cannot be reached` },
    ],
    [
      'a body that breaks off',
      async () => new Response(new ReadableStream({ pull: (stream) => stream.error(new Error('secret')) })),
      { code: 'NETWORK', message: `${tokenUrl} breaks off its answer` },
    ],
  ])('with %s is an error that says so', async (_, fetch, expected) => {
    expect(await given(fetch)).toMatchObject(expected);
  });

  it.each<[string, Fetch]>([
    ['at all', () => new Promise(() => {})],
    ['to its end', async () => new Response(new ReadableStream())],
  ])('that does not come in time is an error, also of a `fetch` that goes on', async (_, never) => {
    const late = { code: 'NETWORK', message: `${tokenUrl} does not answer in time` };
    expect(await given(never, { timeoutMs: 5 })).toEqual(late);
    const clients = { [issuer]: { clientId: 'me', clientSecret: 'secret' } };
    await expect(
      Promise.resolve(oauth({ clients, fetch: never, timeoutMs: 5 })(requestTo(cardWith(login)))),
    ).rejects.toMatchObject({
      ...late,
      message: `${issuer}/.well-known/openid-configuration does not answer in time`,
    });
  });

  it.each([
    [0, 'Bearer one'],
    [1, { code: 'INVALID_ANSWER', message: `${tokenUrl} answers more than 1048576 bytes` }],
  ])('may have 1 MiB, and not %i byte more', async (more, expected) => {
    const text = JSON.stringify(token('one'));
    let isCanceled = false;
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        const bytes = new TextEncoder().encode(text + ' '.repeat(1_048_576 - text.length + more));
        stream.enqueue(bytes.slice(0, 1_000_000));
        stream.enqueue(bytes.slice(1_000_000));
        if (more === 0) stream.close();
      },
      cancel() {
        isCanceled = true;
      },
    });
    expect(await given(answered(200, body, { 'content-type': 'application/json' }))).toEqual(expected);
    expect(isCanceled).toBe(more > 0);
  });

  it('that redirects is not read', async () => {
    let isCanceled = false;
    const body = new ReadableStream({
      cancel() {
        isCanceled = true;
      },
    });
    await given(answered(302, body));
    expect(isCanceled).toBe(true);
  });

  it('is text in UTF-8, wherever it is cut', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ error: 'x', error_description: 'é' }));
    const cut = (...ends: number[]) =>
      new ReadableStream({
        start(stream) {
          let from = 0;
          for (const end of [...ends, bytes.length]) {
            stream.enqueue(bytes.slice(from, end));
            from = end;
          }
          stream.close();
        },
      });
    // The first byte of `é` comes alone. `?`: messages are ASCII.
    expect(
      await given(answered(400, cut(bytes.indexOf(0xc3) + 1), { 'content-type': 'application/json' })),
    ).toMatchObject({
      message: `${server} refuses with x: ?`,
    });
    const half = answered(200, bytes.slice(0, bytes.indexOf(0xc3) + 1), {
      'content-type': 'application/json',
    });
    expect(await given(half)).toMatchObject({ code: 'INVALID_ANSWER' });
  });
});

describe('a request to an authorization server', () => {
  it('follows no redirect, and ends with its time', async () => {
    const seen: Request[] = [];
    const { fetch } = authority({ ...metadata(), [tokenUrl]: token('one') });
    const noting: Fetch = (request) => {
      seen.push(request.clone());
      return fetch(request);
    };
    const clients = { [issuer]: { clientId: 'me', clientSecret: 'secret' } };
    await oauth({ clients, fetch: noting })(requestTo(cardWith(login)));
    expect(seen.map(({ method, redirect }) => [method, redirect])).toEqual([
      ['GET', 'manual'],
      ['POST', 'manual'],
    ]);
    expect(seen.map(({ body }) => body === null)).toEqual([true, false]);
  });

  it('goes to no address without TLS, whatever the metadata says', async () => {
    const more = { mtls_endpoint_aliases: { token_endpoint: 'http://id.example/token' } };
    const { fetch, urls } = authority(metadata(more));
    const clients = { [issuer]: { clientId: 'me', certificate: true } };
    const failing = Promise.resolve(oauth({ clients, fetch })(requestTo(cardWith(login))));
    await expect(failing).rejects.toMatchObject({ name: 'OAuthError' });
    expect(urls()).toHaveLength(1);
  });

  it('goes to this machine without TLS', async () => {
    const local = 'http://127.0.0.1:8/tenant';
    const { fetch, urls } = authority({
      [`${local}/.well-known/openid-configuration`]: {
        issuer: local,
        token_endpoint: `${local}/token`,
        mtls_endpoint_aliases: { token_endpoint: 'http://id.example/token' },
      },
      [`${local}/token`]: token('one'),
    });
    const scheme = {
      openIdConnectSecurityScheme: { openIdConnectUrl: `${local}/.well-known/openid-configuration` },
    };
    const ask = (client: object) =>
      Promise.resolve(
        oauth({ clients: { [local]: { clientId: 'me', ...client } }, fetch })(requestTo(cardWith(scheme))),
      );
    expect(await ask({ clientSecret: 'secret' })).toEqual({ authorization: 'Bearer one' });
    await expect(ask({ certificate: true })).rejects.toMatchObject({
      code: 'INSECURE_URL',
      message:
        'An address of the authorization server is http://id.example/token: it must be https, or http on this machine',
    });
    expect(urls()).not.toContain('http://id.example/token');
  });
});

describe('an error of `authorize`', () => {
  const person = (authorize: OAuthOptions['authorize']) =>
    given(authority({ [tokenUrl]: token('one') }).fetch, { authorize: authorize! }, 'authorizationCode');

  it('is the one that `begin` rejected with, or its own', async () => {
    expect(await person(confirming())).toBe('Bearer one');
    const own = new Error('There is no browser');
    expect(await person(() => Promise.reject(own))).toBe(own);
    expect(await person(() => Promise.reject('no browser'))).toBe('no browser');
    const refused = await person(async () => 'http://127.0.0.1/?error=access_denied&error_description=No');
    expect(refused).toMatchObject({ code: 'REFUSED', message: '`authorize` did not call `begin`' });
  });

  it('is that of the person, if the redirect has one', async () => {
    const refusing: OAuthOptions['authorize'] = async (begin) => {
      const url = await begin('http://127.0.0.1:8/callback');
      const state = url.searchParams.get('state')!;
      return `http://127.0.0.1:8/callback?${new URLSearchParams({ state, error: 'access_denied', error_description: 'No\u0007' })}`;
    };
    expect(await person(refusing)).toEqual({
      code: 'REFUSED',
      message: `${server} refuses with access_denied: No?`,
      reason: 'access_denied',
    });
  });
});
