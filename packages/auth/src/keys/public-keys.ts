import type { JSONWebKeySet, JWK } from 'jose';

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
