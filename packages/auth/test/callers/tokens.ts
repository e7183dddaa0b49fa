import { importJWK, type JWK, SignJWT } from 'jose';
import { type BearerJwtOptions, bearerJwt } from '../../src/index.ts';
import { newKey } from '../keys/sample-keys.ts';
import { request } from './request.ts';

export const issuer = 'https://issuer.example';
export const audience = 'https://agent.example';
export const key = newKey('k-1');
const minute = 60_000;
export const start = Date.UTC(2026, 0, 1);

/** A JWT of the issuer, valid for an hour from the start. */
export async function token(
  claims: Record<string, unknown> = {},
  by: JWK = key,
  header: object = {},
): Promise<string> {
  const alg = by.alg ?? { 'P-256': 'ES256', 'P-384': 'ES384', Ed25519: 'EdDSA' }[by.crv ?? ''] ?? 'HS256';
  const payload = {
    iss: issuer,
    aud: audience,
    sub: 'ada',
    iat: start / 1_000,
    exp: start / 1_000 + 3_600,
    ...claims,
  };
  // Undefined claims are left out of the JWT.
  return new SignJWT(JSON.parse(JSON.stringify(payload)))
    .setProtectedHeader({ alg, kid: by.kid, ...header })
    .sign(await importJWK(by, alg));
}

/** A request with a token. */
export const bearer = (jwt: string) => request({ authorization: `Bearer ${jwt}` });
/** An authenticator that trusts the issuer, a minute after the start. */
export const authenticator = (more: Partial<BearerJwtOptions> = {}) =>
  bearerJwt({ issuer, audience, jwks: [key], now: () => start + minute, ...more });
