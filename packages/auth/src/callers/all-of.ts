import type { SecurityRequirement } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import {
  type AuthenticatedCaller,
  type Authenticator,
  type CredentialedRequest,
  mergeSchemes,
} from './authenticator.ts';

/**
 * Accepts callers that satisfy all of several authenticators, such as the key of an application and the token of its
 * user. The caller combines all of them and has the scopes of all. Credentials for only some of them are
 * `UNAUTHENTICATED`.
 */
export function allOf(first: Authenticator, ...others: readonly Authenticator[]): Authenticator {
  const all = [first, ...others];
  return Object.assign(
    async (request: CredentialedRequest) => {
      const callers: AuthenticatedCaller[] = [];
      for (const authenticate of all) {
        const caller = await authenticate(request);
        if (caller) callers.push(caller);
      }
      if (callers.length === 0) return undefined;
      if (callers.length < all.length) throw new A2AError('UNAUTHENTICATED', 'More credentials are needed');
      return combine(callers);
    },
    {
      securitySchemes: mergeSchemes(all),
      securityRequirements: all
        .map(({ securityRequirements }) => securityRequirements)
        .reduce((left, right) => left.flatMap((a) => right.map((b) => both(a, b)))),
    },
  );
}

function combine(callers: readonly AuthenticatedCaller[]): AuthenticatedCaller {
  // `JSON.stringify` below would turn a missing scope into `null`, and all such callers would share a scope.
  if (callers.some(({ scope }) => typeof scope !== 'string' || scope === ''))
    throw new TypeError('Every caller needs a `scope` that is a string and not empty');
  return {
    scope: JSON.stringify(callers.map(({ scope }) => scope)),
    schemes: [...new Set(callers.flatMap(({ schemes = [] }) => schemes))],
    claims: Object.assign({}, ...callers.map(({ claims }) => claims)),
    scopes: [...new Set(callers.flatMap(({ scopes = [] }) => scopes))],
  };
}

function both(a: SecurityRequirement, b: SecurityRequirement): SecurityRequirement {
  const schemes = { ...a.schemes };
  for (const [name, { list = [] }] of Object.entries(b.schemes ?? {}))
    schemes[name] = { list: [...new Set([...(schemes[name]?.list ?? []), ...list])] };
  return { schemes };
}

/**
 * Accepts callers that satisfy one of several authenticators; the first one that recognises the caller decides its
 * identity. If all refuse, the error is the first `PERMISSION_DENIED`, else the first one that is not `UNAUTHENTICATED`
 * (such as `UNAVAILABLE`), else `UNAUTHENTICATED`.
 */
export function anyOf(first: Authenticator, ...others: readonly Authenticator[]): Authenticator {
  const all = [first, ...others];
  return Object.assign(
    async (request: CredentialedRequest) => {
      const refusals: unknown[] = [];
      for (const authenticate of all) {
        try {
          const caller = await authenticate(request);
          if (caller) return caller;
        } catch (error) {
          refusals.push(error);
        }
      }
      const refusal =
        refusals.find((error) => A2AError.is(error, 'PERMISSION_DENIED')) ??
        refusals.find((error) => !A2AError.is(error, 'UNAUTHENTICATED'));
      if (refusal !== undefined) throw refusal;
      const [wrong] = refusals;
      if (wrong) throw new A2AError('UNAUTHENTICATED', (wrong as A2AError).message);
      return undefined;
    },
    {
      securitySchemes: mergeSchemes(all),
      securityRequirements: all.flatMap(({ securityRequirements }) => securityRequirements),
    },
  );
}
