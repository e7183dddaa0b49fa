import type { SecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { challenge } from '@batonjs/protocol/headers';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { algorithms } from '../keys/algorithms.ts';
import { defaultFailureMs, type KeySet, type KeySetCaching, keyFinder } from '../keys/key-set.ts';
import { isFaultOfToken } from '../keys/token-fault.ts';
import type { AuthenticatedCaller, Authenticator, CredentialedRequest } from './authenticator.ts';

/** Which tokens are accepted, and whose they are. */
export interface BearerJwtOptions {
  /** The `iss` that tokens must have. */
  readonly issuer: string | readonly string[];
  /** The `aud` that tokens must have: this agent, so that tokens for others are of no use here. */
  readonly audience: string | readonly string[];
  /** The issuer's keys, or the https address where it publishes them. */
  readonly jwks: KeySet;
  readonly caching?: KeySetCaching;
  /** Scopes that every caller needs. */
  readonly scopes?: readonly string[];
  /** The claim that lists a caller's scopes, as an array or separated by spaces. Default `scope`, or else `scp`. */
  readonly scopesClaim?: string;
  /** Who a token stands for. Default: the `sub` of its `iss`, with `sub`, `iss` and `scopes` as claims for the agent. */
  readonly caller?: (payload: JWTPayload, scopes: readonly string[]) => AuthenticatedCaller;
  /** Signature algorithms. Default: all with public keys. */
  readonly algorithms?: readonly string[];
  /** How far clocks may differ, in seconds. Default 5. */
  readonly clockToleranceSeconds?: number;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
  /** Name of the scheme in the card. Default `bearer`. */
  readonly name?: string;
  /** How the card describes the scheme, such as OAuth 2.0 with its token URL. Default: HTTP Bearer with a JWT. */
  readonly scheme?: SecurityScheme;
}

/**
 * Knows callers by a JWT in `Authorization: Bearer`, signed by an issuer that is trusted. Published keys are cached and
 * fetched again when a token names an unknown one; while they cannot be had, callers are told `UNAVAILABLE`. Every token
 * needs `exp` and a `sub` that is not empty.
 * Spec: §4.5.3, §7.
 */
export function bearerJwt(options: BearerJwtOptions): Authenticator {
  const { name = 'bearer', scopes: needed = [], caller = callerOf } = options;
  const findKey = keyFinder(options.jwks, options.caching);
  const retryAfter = Math.max(1, Math.ceil((options.caching?.failureMs ?? defaultFailureMs) / 1_000));
  const tell = (more: Readonly<Record<string, string>>) => challenge('Bearer', { realm: name, ...more });

  const verify = async (token: string): Promise<JWTPayload> => {
    try {
      const { payload } = await jwtVerify(token, findKey, {
        algorithms: [...(options.algorithms ?? algorithms)],
        issuer: mutable(options.issuer),
        audience: mutable(options.audience),
        requiredClaims: ['exp', 'sub'],
        clockTolerance: options.clockToleranceSeconds ?? 5,
        ...(options.now && { currentDate: new Date(options.now()) }),
      });
      // All tokens without a name would stand for one caller.
      if (typeof payload.sub !== 'string' || payload.sub === '')
        throw new errors.JWTClaimValidationFailed('`sub` must be a string', payload, 'sub', 'invalid');
      return payload;
    } catch (error) {
      if (!isFaultOfToken(error))
        throw new A2AError('UNAVAILABLE', 'Credentials cannot be checked', { retryAfter, cause: error });
      const why = error instanceof errors.JWTExpired ? 'The token has expired' : 'The token is not valid';
      const told = tell({ error: 'invalid_token', error_description: why });
      throw new A2AError('UNAUTHENTICATED', why, { challenge: told });
    }
  };

  return Object.assign(
    async ({ headers }: CredentialedRequest) => {
      const [, token] = /^bearer +(\S.*)$/i.exec(headers.authorization ?? '') ?? [];
      if (token === undefined) return undefined;
      const payload = await verify(token.trim());
      const scopes = scopesOf(payload, options.scopesClaim);
      const missing = needed.filter((scope) => !scopes.includes(scope)).join(' ');
      if (missing === '') return caller(payload, scopes);
      throw new A2AError('PERMISSION_DENIED', `The token lacks the scope ${missing}`, {
        metadata: { scope: missing },
        challenge: tell({ error: 'insufficient_scope', scope: missing }),
      });
    },
    {
      securitySchemes: { [name]: options.scheme ?? jwtScheme },
      securityRequirements: [{ schemes: { [name]: { list: [...needed] } } }],
    },
  );
}

const jwtScheme: SecurityScheme = { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } };

const mutable = (value: string | readonly string[]): string | string[] =>
  typeof value === 'string' ? value : [...value];

function scopesOf(payload: JWTPayload, claim?: string): string[] {
  const value = claim === undefined ? (payload.scope ?? payload.scp) : payload[claim];
  const list = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [];
  return list.filter((scope) => typeof scope === 'string' && scope !== '');
}

const callerOf = ({ iss, sub }: JWTPayload, scopes: readonly string[]): AuthenticatedCaller => ({
  scope: JSON.stringify([iss, sub]),
  claims: { iss, sub, scopes },
  scopes,
});
