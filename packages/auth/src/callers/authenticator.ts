import type { SecurityRequirement, SecurityScheme, Struct } from '@batonjs/protocol';

/** What of a request may hold credentials. */
export interface CredentialedRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
}

/** Whose credentials they were; what a server's `authenticate` returns. */
export interface AuthenticatedCaller {
  /** Names the caller, or the group whose tasks are shared: who has another one sees none of its tasks. Never empty. */
  readonly scope: string;
  /** Non-secret facts for the agent. */
  readonly claims?: Readonly<Struct>;
  /** What the caller may do. */
  readonly scopes?: readonly string[];
}

/**
 * Tells who sends a request, and what a card says about how to prove it. Resolves to undefined without credentials;
 * rejects with `UNAUTHENTICATED` for wrong ones and with `PERMISSION_DENIED` for those that do not suffice. Spec: §7.
 */
export interface Authenticator {
  (request: CredentialedRequest): Promise<AuthenticatedCaller | undefined>;
  /** For the card's `securitySchemes`. */
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>;
  /** For the card's `securityRequirements`: any of them will do. */
  readonly securityRequirements: readonly SecurityRequirement[];
}
