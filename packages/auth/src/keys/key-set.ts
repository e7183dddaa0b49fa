import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import { publicKeys } from './public-keys.ts';

/** Keys, or the address where they are published as a JSON Web Key Set. */
export type KeySet = string | URL | readonly JWK[];

/** How a published key set is kept. All times in milliseconds. */
export interface KeySetCaching {
  /** How long it is believed: a key that was taken back is still accepted so long. Default 600,000. */
  readonly maxAgeMs?: number;
  /** How long after a fetch an unknown key is no reason for another one. Default 30,000. */
  readonly cooldownMs?: number;
  /** How long fetching may take. Default 5,000. */
  readonly timeoutMs?: number;
  /** How long after a fetch that failed the next one is tried; meanwhile callers are refused at once. Default 5,000. */
  readonly failureMs?: number;
}

/** How long a failed fetch of a key set is remembered, in milliseconds. */
export const defaultFailureMs = 5_000;

/** A published key set with what is known of it. */
export type RemoteKeySet = ReturnType<typeof createRemoteJWKSet>;

/** A key set at an address. Throws `TypeError` unless it has TLS or is on this machine. */
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
 * A fetch that rejects with the error of the last one for a while after it failed: an address that does not answer would
 * otherwise be asked, and waited for, with every token.
 */
function fetchUnlessFailed(failureMs: number): FetchImplementation {
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  return async (url, options) => {
    if (failed && performance.now() - failed.at < failureMs) throw failed.error;
    try {
      const response = await fetch(url, options);
      // Read here, because an answer that is no key set is a failure as well.
      const keys: unknown = response.status === 200 ? await response.json() : undefined;
      if (!isKeySet(keys)) throw new Error(`The keys were answered with ${response.status} and no key set`);
      failed = undefined;
      return Response.json(keys);
    } catch (error) {
      failed = { error, at: performance.now() };
      throw error;
    }
  };
}

const isKeySet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys);

/** What finds the key of a token. */
export const keyFinder = (keys: KeySet, caching?: KeySetCaching): JWTVerifyGetKey =>
  typeof keys === 'string' || keys instanceof URL
    ? remoteKeySet(keys, caching)
    : createLocalJWKSet(publicKeys(keys));

const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname) || hostname.endsWith('.localhost');
