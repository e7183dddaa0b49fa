import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The token of the inspector that is kept in a folder, so that an open page and a bookmark stay good after a restart. It is
 * made the first time, and only this user can read it. Where the folder cannot be written, each call makes another one.
 */
export function keptToken(folder: string): string {
  const file = join(folder, 'inspector-token');
  try {
    const kept = readFileSync(file, 'utf8').trim();
    if (/^[\w-]{16,200}$/.test(kept)) return kept;
  } catch {
    // There is none yet.
  }
  const token = randomBytes(18).toString('base64url');
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
  } catch {
    // A server that needs the folder says why it cannot have it.
  }
  return token;
}
