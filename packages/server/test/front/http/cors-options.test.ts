import { describe, expect, it } from 'vitest';
import { type CorsOptions, completeCors, withCors } from '../../../src/front/http/cors.ts';
import type { HttpExchange } from '../../../src/front/http/request-body.ts';

const always = [
  ...['a2a-extensions', 'a2a-version', 'accept', 'content-type', 'if-none-match', 'last-event-id'],
  ...['traceparent', 'tracestate', 'x-a2a-extensions', 'x-request-id'],
];
const exposed =
  'a2a-extensions, allow, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-a2a-extensions, x-request-id';

describe('completed options of CORS', () => {
  it('allow the headers of the protocol, of credentials and those that are named, sorted, each once, and no cookie', () => {
    expect(completeCors(false, [])).toBeUndefined();
    expect(completeCors(undefined, [])).toBeUndefined();
    const policy = completeCors({ headers: ['X-Own', 'ACCEPT'] }, ['authorization', 'cookie', 'x-key'])!;
    expect(policy.headers).toEqual([...always, 'authorization', 'x-key', 'x-own'].sort());
    expect(completeCors(true, [])).toMatchObject({
      ...{ headers: always, any: true, credentials: false },
    });
  });

  it.each<[CorsOptions | true, string, boolean, boolean]>([
    [true, 'https://a.example', true, true],
    [{}, 'https://a.example', true, true],
    [{ origins: ['https://a.example'] }, 'https://a.example', true, false],
    [{ origins: ['https://a.example'] }, 'https://b.example', false, false],
    [{ origins: [] }, 'https://a.example', false, false],
    [{ origins: (origin) => origin.endsWith('.example') }, 'https://a.example', true, false],
    [{ origins: () => false }, 'https://a.example', false, false],
  ])('%j allow %s: %s', (options, origin, allowed, any) => {
    const policy = completeCors(options, [])!;
    expect([policy.allows(origin), policy.any]).toEqual([allowed, any]);
  });

  it('with credentials name origins', () => {
    expect(() => completeCors({ credentials: true }, [])).toThrow('`cors.credentials` needs `cors.origins`');
    expect(completeCors({ credentials: true, origins: [] }, [])!.credentials).toBe(true);
  });
});

describe('an answer', () => {
  const origin = 'https://a.example';
  const ask = async (
    options: CorsOptions | boolean,
    more: Partial<HttpExchange> = {},
    reply: Record<string, string> = { 'content-type': 'text/plain' },
  ) => {
    const handle = withCors(
      async () => ({ status: 200, headers: reply, body: 'x' }),
      completeCors(options, []),
    );
    const exchange = { method: 'POST', path: '/x', headers: { origin }, ...more };
    const { status, headers } = await handle(exchange as HttpExchange);
    return { status, ...headers };
  };
  const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } };
  const card = '/t/.well-known/agent-card.json';
  const type = { 'content-type': 'text/plain' };
  const any = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed };

  it.each<[string, CorsOptions | boolean, Partial<HttpExchange>, object]>([
    ['as it is without CORS', false, {}, type],
    ['for every page', true, {}, { ...type, ...any }],
    ['for every page, if it is the card', false, { path: card, method: 'GET' }, { ...type, ...any }],
    [
      'for a page that is listed',
      { origins: [origin] },
      {},
      {
        ...type,
        'access-control-allow-origin': origin,
        'access-control-expose-headers': exposed,
        vary: 'Origin',
      },
    ],
    [
      'with credentials',
      { origins: [origin], credentials: true },
      {},
      { 'access-control-allow-credentials': 'true', 'access-control-allow-origin': origin },
    ],
    ['not for another page', { origins: ['https://b.example'] }, {}, { ...type, vary: 'Origin' }],
    ['not for a page without origin', { origins: [origin] }, { headers: {} }, { ...type, vary: 'Origin' }],
  ])('may be read %s', async (_, options, more, headers) => {
    const answer = await ask(options, more);
    if ('access-control-allow-credentials' in headers) expect(answer).toMatchObject(headers);
    else expect(answer).toEqual({ status: 200, ...headers });
  });

  it('varies by what the handler says too, and its own origin gives way', async () => {
    const own = { vary: 'A2A-Version', 'access-control-allow-origin': '*' };
    expect(await ask({ origins: [] }, {}, own)).toEqual({ status: 200, vary: 'A2A-Version, Origin' });
    expect(await ask(true, {}, own)).toEqual({ status: 200, ...any, vary: 'A2A-Version' });
  });

  it('to a preflight is not of the handler', async () => {
    const allow = (methods: string) => ({
      ...{ status: 204, 'access-control-allow-methods': methods },
      ...{ 'access-control-allow-headers': always.join(', '), 'access-control-max-age': '600', ...any },
    });
    expect(await ask(true, preflight)).toEqual(allow('DELETE, GET, HEAD, POST'));
    expect(await ask({}, { ...preflight, path: card })).toEqual(allow('GET, HEAD'));
    expect(await ask(false, { ...preflight, path: card })).toEqual(allow('GET, HEAD'));
    expect((await ask(true, { ...preflight, headers: { origin } })).status).toBe(200);
    expect((await ask(true, { ...preflight, method: 'POST' })).status).toBe(200);
  });
});
