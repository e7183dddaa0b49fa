import { type CryptoKey, importJWK, type JWK } from 'jose';

/** A private key that is ready to sign. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly key: Promise<CryptoKey>;
}

const algorithmOfCurve: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
};

/** Makes a private JWK ready. Throws `TypeError` for one without `kid`, without private half or with an unclear algorithm. */
export function signingKey(jwk: JWK): SigningKey {
  const { kid, alg = algorithmOfCurve[jwk.crv ?? ''], d, kty } = jwk;
  if (!kid) throw new TypeError('A signing key needs a `kid`');
  if (!d || kty === 'oct') throw new TypeError(`The key "${kid}" cannot sign: it is no private key`);
  if (!alg) throw new TypeError(`The key "${kid}" needs an \`alg\``);
  const key = importJWK(jwk, alg) as Promise<CryptoKey>;
  // Whoever signs first is told.
  key.catch(() => {});
  return { kid, alg, key };
}
