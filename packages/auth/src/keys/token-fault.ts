import { errors } from 'jose';

/** What is wrong with a token itself; all else is wrong with the keys or the way to them. */
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

/** Whether a token was refused for what it is, rather than because it could not be checked. */
export const isFaultOfToken = (error: unknown): boolean =>
  error instanceof errors.JOSEError && faults.has(error.code);
