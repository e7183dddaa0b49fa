import type { SecurityRequirement, SecurityScheme, Struct } from '@batonjs/protocol';

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
export function mergeSchemes(all: readonly Authenticator[]): Record<string, SecurityScheme> {
  const merged = new Map<string, SecurityScheme>();
  for (const [name, scheme] of all.flatMap(({ securitySchemes }) => Object.entries(securitySchemes))) {
    const known = merged.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(scheme))
      throw new TypeError(`Two security schemes are named "${name}": give one of them another \`name\``);
    merged.set(name, scheme);
  }
  return Object.fromEntries(merged);
}
