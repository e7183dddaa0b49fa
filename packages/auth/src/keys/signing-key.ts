import { type CryptoKey, importJWK, type JWK } from 'jose';

/** An imported private key. */
export type SigningKey = Readonly<ReturnType<typeof signingKey>>;

const algorithmOfCurve: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
};

/** Imports a private JWK. Throws `TypeError` if it has no `kid` or private half, or if its algorithm is unclear. */
export function signingKey(jwk: JWK) {
  const { kid, alg = algorithmOfCurve[jwk.crv ?? ''], d, kty } = jwk;
  if (!kid) throw new TypeError('A signing key needs a `kid`');
  if (!d || kty === 'oct') throw new TypeError(`The key "${kid}" cannot sign: it is no private key`);
  if (!alg) throw new TypeError(`The key "${kid}" needs an \`alg\``);
  const key = importJWK(jwk, alg) as Promise<CryptoKey>;
  // The first signature reports a failed import.
  key.catch(() => {});
  return { kid, alg, key };
}
