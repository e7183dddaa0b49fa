import type { SecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { challenge } from '@batonjs/protocol/headers';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { defaultFailureMs, type KeySet, type KeySetCaching, keyFinder } from '../keys/key-set.ts';
import { algorithms, isFaultOfToken } from '../keys/token-fault.ts';
import type { AuthenticatedCaller, Authenticator, CredentialedRequest } from './authenticator.ts';

/** Options of `bearerJwt`: which tokens it accepts, and which caller a token stands for. */
export interface BearerJwtOptions {
  /** The required `iss` of tokens: one of these. */
  readonly issuer: string | readonly string[];
  /** The required `aud` of tokens. Name this agent, so that tokens for other services are refused. */
  readonly audience: string | readonly string[];
  /** The issuer's keys, or the https URL that publishes them. */
  readonly jwks: KeySet;
  /** How long published keys are cached. */
  readonly caching?: KeySetCaching | undefined;
  /** Scopes that every caller needs. Missing ones are `PERMISSION_DENIED`. */
  readonly scopes?: readonly string[] | undefined;
  /** The claim with the caller's scopes, as an array or separated by spaces. Default `scope`, or `scp` without it. */
  readonly scopesClaim?: string | undefined;
  /** The caller of a token. Default: identified by `iss` and `sub`, with `sub`, `iss` and `scopes` as claims. */
  readonly caller?: ((payload: JWTPayload, scopes: readonly string[]) => AuthenticatedCaller) | undefined;
  /** The accepted signature algorithms. Default: all that use public keys. */
  readonly algorithms?: readonly string[] | undefined;
  /** The accepted difference between clocks in seconds. Default 5. */
  readonly clockToleranceSeconds?: number | undefined;
  /** The current time in milliseconds since 1970; for tests. */
  readonly now?: (() => number) | undefined;
  /** The name of the scheme in the card. Default `bearer`. */
  readonly name?: string | undefined;
  /** The scheme in the card, such as OAuth 2.0 with its token URL. Default: HTTP Bearer with a JWT. */
  readonly scheme?: SecurityScheme | undefined;
}

/**
 * Identifies callers by a JWT in `Authorization: Bearer` that a trusted issuer signed. Published keys are cached, and
 * fetched again when a token names an unknown one. While they cannot be fetched, the error is `UNAVAILABLE`. Every
 * token needs `exp` and a non-empty `sub`. Spec: §4.5.3, §7.
 */
export function bearerJwt(options: BearerJwtOptions): Authenticator {
  const { name = 'bearer', scopes: needed = [], caller = callerOf } = options;
  const findKey = keyFinder(options.jwks, options.caching);
  const retryAfter = Math.max(1, Math.ceil((options.caching?.failureMs ?? defaultFailureMs) / 1_000));
  const challengeWith = (more: Readonly<Record<string, string>>) =>
    challenge('Bearer', { realm: name, ...more });

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
      // All tokens without a `sub` would otherwise stand for the same caller.
      if (typeof payload.sub !== 'string' || payload.sub === '')
        throw new errors.JWTClaimValidationFailed('`sub` must be a string', payload, 'sub', 'invalid');
      return payload;
    } catch (error) {
      if (!isFaultOfToken(error))
        throw new A2AError('UNAVAILABLE', 'Credentials cannot be checked', { retryAfter, cause: error });
      const why = error instanceof errors.JWTExpired ? 'The token has expired' : 'The token is not valid';
      const header = challengeWith({ error: 'invalid_token', error_description: why });
      throw new A2AError('UNAUTHENTICATED', why, { challenge: header });
    }
  };

  return Object.assign(
    async ({ headers }: CredentialedRequest) => {
      const [, token] = /^bearer +(\S.*)$/i.exec(headers.authorization ?? '') ?? [];
      if (token === undefined) return undefined;
      const payload = await verify(token.trim());
      const scopes = scopesOf(payload, options.scopesClaim);
      const missing = needed.filter((scope) => !scopes.includes(scope)).join(' ');
      if (missing === '') return { ...caller(payload, scopes), schemes: [name] };
      throw new A2AError('PERMISSION_DENIED', `The token lacks the scope ${missing}`, {
        metadata: { scope: missing },
        challenge: challengeWith({ error: 'insufficient_scope', scope: missing }),
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
