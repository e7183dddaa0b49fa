import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A token of `auth login`. */
export interface StoredToken {
  readonly accessToken: string;
  /** ISO 8601; absent if the server did not say. */
  readonly expiresAt?: string;
}

const pathOf = (home: string): string => join(home, '.config/a2a-cli/tokens.json');

/** The token of an agent's origin that is still valid; undefined if there is none. */
export function tokenFor(home: string, origin: string, now = Date.now()): StoredToken | undefined {
  const token = readAll(home)[origin];
  return token && (token.expiresAt === undefined || Date.parse(token.expiresAt) > now) ? token : undefined;
}

/** Keeps a token in a file that only its user can read. */
export function keepToken(home: string, origin: string, token: StoredToken): string {
  const path = pathOf(home);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify({ ...readAll(home), [origin]: token }, undefined, 2)}\n`, {
    mode: 0o600,
  });
  chmodSync(next, 0o600);
  renameSync(next, path);
  return path;
}

function readAll(home: string): Record<string, StoredToken> {
  try {
    return JSON.parse(readFileSync(pathOf(home), 'utf8')) as Record<string, StoredToken>;
  } catch {
    return {};
  }
}
