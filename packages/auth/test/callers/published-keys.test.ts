import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { publicKeys } from '../../src/index.ts';
import { newKey, serveKeys } from '../keys/sample-keys.ts';
import { refusal } from './request.ts';
import { authenticator, bearer, key, token } from './tokens.ts';

describe('published keys', () => {
  it('are fetched once for many tokens', async () => {
    const server = await serveKeys(key);
    const authenticate = authenticator({ jwks: server.url });
    const jwt = await token();
    await Promise.all(Array.from({ length: 20 }, () => authenticate(bearer(jwt))));
    await authenticate(bearer(jwt));
    expect(server.asked).toBe(1);
  });

  it('are fetched again when a token names a new one, and old ones end with the cache [R-SIG-07]', async () => {
    const next = newKey('k-2');
    const server = await serveKeys(key);
    const authenticate = authenticator({ jwks: server.url, caching: { cooldownMs: 0, maxAgeMs: 100_000 } });
    await authenticate(bearer(await token()));
    server.keys = [next];
    expect(await authenticate(bearer(await token({}, next)))).toBeDefined();
    expect(server.asked).toBe(2);
    expect(await refusal(authenticate, bearer(await token()))).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it('are not fetched for every token with an invented key', async () => {
    const server = await serveKeys(key);
    const authenticate = authenticator({ jwks: server.url });
    await authenticate(bearer(await token()));
    const invented = await Promise.all(Array.from({ length: 5 }, (_, n) => token({}, newKey(`x-${n}`))));
    for (const jwt of invented)
      expect(await refusal(authenticate, bearer(jwt))).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(server.asked).toBe(1);
  });

  it('that cannot be fetched make the caller try again later', async () => {
    const server = await serveKeys(key);
    server.trouble = 500;
    const authenticate = authenticator({ jwks: server.url, caching: { failureMs: 0 } });
    const error = await refusal(authenticate, bearer(await token()));
    expect(error).toMatchObject({ reason: 'UNAVAILABLE', retryAfter: 1, cause: expect.any(Error) });
    expect(error.message).toBe('Credentials cannot be checked');
    server.trouble = undefined;
    expect(await authenticate(bearer(await token()))).toBeDefined();
  });

  it.each([
    ['an error', 503],
    ['nothing', 200],
  ])('that were answered with %s are not asked for with every token', async (_what, status) => {
    const server = await serveKeys(key);
    server.trouble = status;
    const authenticate = authenticator({ jwks: server.url, caching: { failureMs: 3_600_000 } });
    for (let n = 0; n < 5; n++)
      expect(await refusal(authenticate, bearer(await token()))).toMatchObject({
        reason: 'UNAVAILABLE',
        retryAfter: 3_600,
      });
    expect(server.asked).toBe(1);
  });

  it.each([
    ['no JSON', 'keys', /JSON/],
    ['1 MiB', `{"keys":[],"x":"${'x'.repeat(1_048_576)}"}`, /JSON/],
    ['null', 'null', /^The keys were answered with 200 and no key set$/],
    ['a text', '"keys"', /^The keys were answered with 200 and no key set$/],
    ['an object without keys', '{}', /^The keys were answered with 200 and no key set$/],
    ['keys that are no list', '{"keys":{}}', /^The keys were answered with 200 and no key set$/],
    ['a text as keys', '{"keys":"x"}', /^The keys were answered with 200 and no key set$/],
  ])('that were answered with %s cannot be used, and the log can say why', async (_what, text, why) => {
    const http = createServer((_request, response) => response.end(text)).listen(0, '127.0.0.1');
    onTestFinished(() => void http.close());
    await once(http, 'listening');
    const jwks = `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`;
    const error = await refusal(authenticator({ jwks }), bearer(await token()));
    expect(error).toMatchObject({ reason: 'UNAVAILABLE', cause: { message: expect.stringMatching(why) } });
  });

  it.each([201, 404])('that were answered with %d are not read', async (status) => {
    const http = createServer((_request, response) =>
      response.writeHead(status).end(JSON.stringify(publicKeys([key]))),
    ).listen(0, '127.0.0.1');
    onTestFinished(() => void http.close());
    await once(http, 'listening');
    const jwks = `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`;
    expect(await refusal(authenticator({ jwks }), bearer(await token()))).toMatchObject({
      reason: 'UNAVAILABLE',
    });
  });

  it('that were fetched stay in use while fetching fails', async () => {
    const server = await serveKeys(key);
    const authenticate = authenticator({
      jwks: server.url,
      caching: { cooldownMs: 0, failureMs: 3_600_000 },
    });
    await authenticate(bearer(await token()));
    server.trouble = 503;
    const unknown = bearer(await token({}, newKey('k-2')));
    for (let n = 0; n < 3; n++)
      expect(await refusal(authenticate, unknown)).toMatchObject({ reason: 'UNAVAILABLE' });
    expect(await authenticate(bearer(await token()))).toBeDefined();
    expect(server.asked).toBe(2);
  });

  it('are fetched over https, except from this machine [R-SIG-07]', () => {
    expect(() => authenticator({ jwks: 'http://issuer.example/jwks.json' })).toThrow(/https/);
    expect(() => authenticator({ jwks: 'https://issuer.example/jwks.json' })).not.toThrow();
  });

  it('keep their private halves', () => {
    const [published] = publicKeys([newKey('rsa', 'RSA')]).keys;
    expect(Object.keys(published!).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n']);
    expect(() => publicKeys([{ kty: 'oct', k: 'c2VjcmV0', kid: 'k' }])).toThrow(TypeError);
    expect(() => publicKeys([{ ...key, kid: undefined }])).toThrow(/kid/);
  });
});
