import type { SecurityScheme } from '@batonjs/protocol';
import { type OAuthClient, type OAuthOptions, oauth, type StoredToken } from '../../src/index.ts';
import { authority, cardWith, issuer, login, metadata, requestTo, token, tokenUrl } from './authority.ts';

/** The time of all tests on kept tokens. */
export const now = 10_000_000;
export const minuteMs = 60_000;
export const machine = { clientSecret: 'secret' };

/** The key of the token of `setting`. */
export const key = ['https://agent.example', issuer, 'me', '', '', []];

export interface Setting extends Partial<OAuthOptions> {
  readonly kept?: unknown;
  readonly client?: Partial<OAuthClient>;
  readonly answer?: object;
  /** The agent refuses the token that is kept. */
  readonly isRefused?: boolean;
  readonly scheme?: SecurityScheme;
}

/** Credentials with a token that is kept, and what they do with it. */
export function setting({
  kept,
  client,
  answer = token('new'),
  isRefused,
  scheme = login,
  ...options
}: Setting) {
  const server = authority({ ...metadata(), [tokenUrl]: answer });
  const written: unknown[] = [];
  const store = {
    get: () => kept as StoredToken | undefined,
    set: (key: string, value: StoredToken) => written.push({ key: JSON.parse(key), ...value }),
    delete: (key: string) => written.push({ key: JSON.parse(key) }),
  };
  const clients = { [issuer]: { clientId: 'me', ...client } };
  const credentials = oauth({ clients, store, fetch: server.fetch, now: () => now, ...options });
  const request = requestTo(cardWith(scheme));
  const authorization = `Bearer ${(kept as StoredToken | undefined)?.accessToken}`;
  const refusal = { challenge: 'Bearer error="invalid_token"', refused: { authorization } };
  const ask = async () => (await credentials({ ...request, ...(isRefused && refusal) }))?.authorization;
  return { server, written, ask, grants: () => server.asked.flatMap(({ form }) => form.grant_type ?? []) };
}
