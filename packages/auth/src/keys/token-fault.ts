import { errors } from 'jose';

/** Codes of `jose` for a faulty token. Other codes concern the keys or fetching them. */
const faults = new Set([
  'ERR_JWT_EXPIRED',
  'ERR_JWT_CLAIM_VALIDATION_FAILED',
  'ERR_JWT_INVALID',
  'ERR_JWS_INVALID',
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWKS_MULTIPLE_MATCHING_KEYS',
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
]);

/** Whether the token itself is faulty, as opposed to keys that could not be fetched or used. */
export const isFaultOfToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && faults.has(error.code);

/** Signature algorithms with public keys. Algorithms with shared secrets and `none` do not prove who signed. */
export const algorithms: readonly string[] = [
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
