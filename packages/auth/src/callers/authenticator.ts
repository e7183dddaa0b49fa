import type { SecurityRequirement, SecurityScheme, Struct } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';

/** The parts of a request that may contain credentials. */
export interface CredentialedRequest {
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
}

/** The caller that the credentials belong to. A server's `authenticate` returns it. */
export interface AuthenticatedCaller {
  /** Identifies the caller, or a group that shares its tasks. Callers of other scopes cannot see them. Never empty. */
  readonly scope: string;
  /** Non-secret information about the caller, for the agent. */
  readonly claims?: Readonly<Struct>;
  /** The names of the security schemes that the caller satisfied. */
  readonly schemes?: readonly string[];
  /** The scopes that the caller was granted. */
  readonly scopes?: readonly string[];
}

/**
 * Identifies the caller of a request, and describes its schemes for the card. Resolves to undefined if the request has
 * no credentials. Rejects with `UNAUTHENTICATED` for wrong credentials and with `PERMISSION_DENIED` for insufficient
 * ones. Spec: §7.
 */
export interface Authenticator {
  (request: CredentialedRequest): Promise<AuthenticatedCaller | undefined>;
  /** The schemes for the card's `securitySchemes`. */
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  /** The alternatives for the card's `securityRequirements`: a caller needs to satisfy one of them. */
  readonly securityRequirements: readonly SecurityRequirement[];
}

/** The schemes of several authenticators by name. Throws `TypeError` if two different schemes have the same name. */
function mergeSchemes(all: readonly Authenticator[]): Record<string, SecurityScheme> {
  const merged = new Map<string, SecurityScheme>();
  for (const [name, scheme] of all.flatMap(({ securitySchemes }) => Object.entries(securitySchemes))) {
    const known = merged.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(scheme))
      throw new TypeError(`Two security schemes are named "${name}": give one of them another \`name\``);
    merged.set(name, scheme);
  }
  return Object.fromEntries(merged);
}

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
