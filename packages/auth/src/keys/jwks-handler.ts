import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JSONWebKeySet, JWK } from 'jose';

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
export function publicKeys(keys: readonly JWK[]): JSONWebKeySet {
  return { keys: keys.map(publicKey) };
}

function publicKey(key: JWK): JWK {
  if (!key.kid) throw new TypeError('A key needs a `kid`');
  if (!['EC', 'OKP', 'RSA'].includes(key.kty ?? ''))
    throw new TypeError(`The key "${key.kid}" has no public half`);
  const members = Object.entries(key).filter(([name]) => publicMembers.includes(name));
  return Object.fromEntries(members) as JWK;
}
