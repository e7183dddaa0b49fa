import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback } from '@batonjs/protocol/headers';
import { chunksOf, readText } from '@batonjs/protocol/json';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';

/** Public keys, or the URL that publishes them as a JSON Web Key Set. */
export type KeySet = string | URL | readonly JWK[];

/** How long fetched key sets are cached. All times are in milliseconds. */
export interface KeySetCaching {
  /** How long a fetched set is used. A revoked key is accepted for at most this long. Default 600,000. */
  readonly maxAgeMs?: number | undefined;
  /** How long after a fetch an unknown key does not cause another one. Default 30,000. */
  readonly cooldownMs?: number | undefined;
  /** The timeout of a fetch. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** How long after a failed fetch the next one is tried. Until then, requests fail at once. Default 5,000. */
  readonly failureMs?: number | undefined;
}

/** The default of `failureMs`. */
export const defaultFailureMs = 5_000;

/** Far more than any key set has. */
const maximumBytes = 1_048_576;

/** A key set at a URL, with its cache. */
export type RemoteKeySet = ReturnType<typeof createRemoteJWKSet>;

/** Creates the key set at a URL. Throws `TypeError` unless the URL uses https or a loopback host. */
export function remoteKeySet(
  url: string | URL,
  {
    maxAgeMs = 600_000,
    cooldownMs = 30_000,
    timeoutMs = 5_000,
    failureMs = defaultFailureMs,
  }: KeySetCaching = {},
): RemoteKeySet {
  const address = new URL(url);
  const { protocol, hostname } = address;
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
    throw new TypeError(`Keys must be fetched over https: ${address.href}`);
  return createRemoteJWKSet(address, {
    cacheMaxAge: maxAgeMs,
    cooldownDuration: cooldownMs,
    timeoutDuration: timeoutMs,
    [customFetch]: fetchUnlessFailed(failureMs),
  });
}

/**
 * A `fetch` that repeats its last failure for `failureMs` milliseconds. Otherwise every token would wait for a server
 * that does not answer.
 */
function fetchUnlessFailed(failureMs: number): FetchImplementation {
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  return async (url, options) => {
    if (failed && performance.now() - failed.at < failureMs) throw failed.error;
    try {
      const response = await fetch(url, options);
      // Parsed here, because a response that is not a key set counts as a failure.
      const keys: unknown =
        response.status === 200
          ? JSON.parse((await readText(chunksOf(response.body), maximumBytes)) ?? '')
          : undefined;
      if (!isKeySet(keys)) throw new Error(`The keys were answered with ${response.status} and no key set`);
      return Response.json(keys);
    } catch (error) {
      failed = { error, at: performance.now() };
      throw error;
    }
  };
}

const isKeySet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);

/** Creates the function that finds the key of a token. */
export const keyFinder = (keys: KeySet, caching?: KeySetCaching): JWTVerifyGetKey =>
  typeof keys === 'string' || keys instanceof URL
    ? remoteKeySet(keys, caching)
    : createLocalJWKSet(publicKeys(keys));

/**
 * Creates a handler that publishes the public halves of keys, for Express (`app.get('/.well-known/jwks.json',
 * jwksHandler([key]))`) and for `node:http`. Clients may cache the response for 5 minutes: publish a new key at least
 * that long before you sign with it. Removing a key revokes it. Throws `TypeError` for a secret without a public half.
 */
export function jwksHandler(
  keys: readonly JWK[],
): (request: Pick<IncomingMessage, 'method'>, response: ServerResponse) => void {
  const body = JSON.stringify(publicKeys(keys));
  return ({ method = 'GET' }, response) => {
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'application/jwk-set+json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
    response.end(method === 'HEAD' ? undefined : body);
  };
}

/** The public members of a key. All others are secret and never leave this process. */
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use', 'iat', 'nbf', 'exp', 'revoked'];

/**
 * The public halves of keys as a JSON Web Key Set. Throws `TypeError` for a key without `kid` and for a secret without
 * a public half.
 */
export const publicKeys = (keys: readonly JWK[]): JSONWebKeySet => ({ keys: keys.map(publicKey) });

function publicKey(key: JWK): JWK {
  if (!key.kid) throw new TypeError('A key needs a `kid`');
  if (!['EC', 'OKP', 'RSA'].includes(key.kty ?? ''))
    throw new TypeError(`The key "${key.kid}" has no public half`);
  const members = Object.entries(key).filter(([name]) => publicMembers.includes(name));
  return Object.fromEntries(members) as JWK;
}
