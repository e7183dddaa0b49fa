/** A token as it is kept. It holds secrets. Times are in milliseconds since 1970. */
export interface StoredToken {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly obtainedAt: number;
  /** When the flow ran whose token this one descends from by refreshes. Undefined if it was not refreshed. */
  readonly grantedAt?: number | undefined;
  /** Whether it was refreshed because the agent refused the one before. */
  readonly isReplacement?: boolean | undefined;
  /** Undefined if the authorization server did not say. */
  readonly expiresAt?: number | undefined;
}

/**
 * Keeps tokens by a key, which names the agent, the authorization server, the client with its parameters, and the scopes,
 * and is no secret. A token that is written last replaces an earlier one. A store that fails makes the call fail.
 */
export interface TokenStore {
  get(key: string): StoredToken | undefined | Promise<StoredToken | undefined>;
  set(key: string, token: StoredToken): unknown;
  delete(key: string): unknown;
}

/** Keeps tokens as long as the process runs. */
export const memoryTokenStore = (): TokenStore => new Map<string, StoredToken>();

/** Whether a value from a store, which anything may have written, has the members of a token. */
export const isToken = (value: StoredToken | undefined): value is StoredToken =>
  typeof value?.accessToken === 'string' &&
  typeof value.obtainedAt === 'number' &&
  ['undefined', 'number'].includes(typeof value.expiresAt) &&
  ['undefined', 'number'].includes(typeof value.grantedAt) &&
  ['undefined', 'string'].includes(typeof value.refreshToken);
