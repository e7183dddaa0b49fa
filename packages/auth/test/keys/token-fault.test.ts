import { errors } from 'jose';
import { expect, it } from 'vitest';
import { isFaultOfToken } from '../../src/keys/token-fault.ts';

it.each([
  new errors.JWTExpired('x', {}),
  new errors.JWTClaimValidationFailed('x', {}),
  new errors.JWTInvalid(),
  new errors.JWSInvalid(),
  new errors.JWSSignatureVerificationFailed(),
  new errors.JWKSNoMatchingKey(),
  new errors.JWKSMultipleMatchingKeys(),
  new errors.JOSEAlgNotAllowed(),
  new errors.JOSENotSupported(),
])('%s is a fault of the token', (error) => {
  expect(isFaultOfToken(error)).toBe(true);
});

it.each([
  new errors.JWKSTimeout(),
  new errors.JWKSInvalid(),
  new TypeError('fetch failed'),
  Object.assign(new Error('x'), { code: 'ERR_JWT_INVALID' }),
  undefined,
])('%s is none', (error) => {
  expect(isFaultOfToken(error)).toBe(false);
});
