import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  apiKey,
  bearerJwt,
  jwksHandler,
  publicKeys,
  signCard,
  signPush,
  verifyCard,
} from '../../src/index.ts';
import { algorithms } from '../../src/keys/token-fault.ts';
import { bareCard } from '../cards/sample-cards.ts';
import { newKey } from './sample-keys.ts';

/** A private key for an algorithm, without its name where the curve tells it. */
async function keyFor(alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: alg, alg };
}

describe('the accepted algorithms', () => {
  const all = [
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
    'Ed25519',
    'PS256',
    'PS384',
    'PS512',
    'RS256',
    'RS384',
    'RS512',
  ];

  it('are those with public keys', () => {
    expect([...algorithms].sort()).toEqual([...all].sort());
  });

  it.each(all)('%s signs and is verified [R-SIG-08]', async (alg) => {
    const key = await keyFor(alg);
    await expect(verifyCard(await signCard(bareCard, key), { keys: [key] })).resolves.toMatchObject({
      kid: alg,
    });
  });

  it.each([
    ['ES256', 'ES256'],
    ['ES384', 'ES384'],
    ['ES512', 'ES512'],
    ['EdDSA', 'EdDSA'],
  ])('%s is the one of its curve', async (of, expected) => {
    const { alg, ...key } = await keyFor(of);
    const { signatures } = await signCard(bareCard, key, { forSdk: false });
    const header = JSON.parse(Buffer.from(signatures![0]!.protected, 'base64url').toString());
    expect(header.alg).toBe(expected);
  });
});

describe('a key that cannot be used', () => {
  const key = newKey('k');
  it.each<[JWK, string]>([
    [{ ...key, kid: undefined }, 'A signing key needs a `kid`'],
    [publicKeys([key]).keys[0]!, 'The key "k" cannot sign: it is no private key'],
    [
      { kty: 'oct', k: 'c2VjcmV0', d: 'x', kid: 'k', alg: 'HS256' },
      'The key "k" cannot sign: it is no private key',
    ],
    [{ ...newKey('k', 'RSA'), alg: undefined }, 'The key "k" needs an `alg`'],
    [{ ...key, crv: undefined, alg: undefined }, 'The key "k" needs an `alg`'],
  ])('is refused with its name and the reason', (wrong, message) => {
    expect(() => signPush({ key: wrong, issuer: 'x' })).toThrow(new TypeError(message));
  });

  it('whose text is broken fails with the first signature', async () => {
    const sign = signPush({ key: { ...key, d: 'not a key' }, issuer: 'x' });
    // A rejection without a handler would end the process meanwhile.
    await new Promise(setImmediate);
    await expect(sign({ claims: {} as never, authorized: false })).rejects.toThrow();
  });

  it.each<[JWK, string]>([
    [{ kty: 'oct', k: 'c2VjcmV0', kid: 'k' }, 'The key "k" has no public half'],
    [{ k: 'c2VjcmV0', kid: 'k' } as JWK, 'The key "k" has no public half'],
    [{ ...key, kid: undefined }, 'A key needs a `kid`'],
  ])('is not published', (wrong, message) => {
    expect(() => publicKeys([wrong])).toThrow(new TypeError(message));
  });
});

describe('a published key', () => {
  it('keeps what says when and for what it is used, and nothing secret', () => {
    const about = { use: 'sig', iat: 1, nbf: 2, exp: 3, revoked: { revoked_at: 4 } };
    const { d, ...half } = newKey('k', 'P-384');
    expect(publicKeys([{ ...half, d, ...about, more: 'x' } as JWK]).keys).toEqual([{ ...half, ...about }]);
  });

  it.each(['GET', 'HEAD', 'POST', 'OPTIONS'])('is answered to %s', async (method) => {
    const key = newKey('k');
    const http = createServer(jwksHandler([key])).listen(0, '127.0.0.1');
    onTestFinished(() => void http.close());
    await once(http, 'listening');
    const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, { method });
    const text = await response.text();
    if (method === 'GET' || method === 'HEAD') {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/jwk-set+json');
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(text).toBe(method === 'GET' ? JSON.stringify(publicKeys([key])) : '');
    } else {
      expect([response.status, response.headers.get('allow'), text]).toEqual([405, 'GET, HEAD', '']);
    }
  });

  it('is written for a request without a method, and without a body for HEAD', () => {
    const ended: unknown[] = [];
    const response = { writeHead: () => response, end: (body?: string) => ended.push(body) };
    const handler = jwksHandler([newKey('k')]);
    handler({}, response as never);
    handler({ method: 'HEAD' }, response as never);
    expect(ended).toEqual([expect.stringContaining('"keys"'), undefined]);
  });
});

describe('an address of keys', () => {
  const at = (jwks: string) => () => bearerJwt({ issuer: 'i', audience: 'a', jwks });

  it.each([
    'https://keys.example',
    'http://localhost:1/k',
    'http://agents.localhost/k',
    'http://127.0.0.1/k',
    'http://127.1.22.255:80/k',
    'http://[::1]:80/k',
  ])('may be %s', (url) => {
    expect(at(url)).not.toThrow();
  });

  it.each([
    'http://keys.example/',
    'http://localhost.example/',
    'http://mylocalhost/',
    'http://x127.0.0.1.example/',
    'http://127.0.0.1.example/',
    'http://[::2]/',
    'http://.localhost.example/',
    'ftp://localhost/',
    'data:application/json,%7B%7D',
  ])('must not be %s', (url) => {
    expect(at(url)).toThrow(new TypeError(`Keys must be fetched over https: ${new URL(url).href}`));
  });
});

describe('an API key', () => {
  const keys = new Map([['k', { scope: 's' }]]);
  const cookie = (text: string) =>
    apiKey({ cookie: 'c', keys })({ headers: { cookie: text }, query: new URLSearchParams() });

  it('stands in the card under its default name, with its place', () => {
    const card = (place: { header: string } | { query: string }) =>
      apiKey({ ...place, keys }).securitySchemes;
    expect(card({ header: 'X-Key' })).toEqual({
      apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    });
    expect(card({ query: 'key' })).toEqual({
      apiKey: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
    });
  });

  it('in a cookie is read without the spaces around it', async () => {
    expect(await cookie('; c = k ;d=x')).toEqual({ scope: 's', schemes: ['apiKey'] });
    expect(await cookie('d=x')).toBeUndefined();
    expect(
      await apiKey({ cookie: 'c', keys })({ headers: {}, query: new URLSearchParams() }),
    ).toBeUndefined();
  });

  it('that is wrong is refused with this text', async () => {
    await expect(cookie('c=other')).rejects.toThrow(/^The API key is not valid$/);
  });
});
