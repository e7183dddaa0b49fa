import { createHash } from 'node:crypto';

/** A digest of ids, of 24 characters: ids may be long, and may hold any character. */
export function digestOf(...ids: readonly string[]): string {
  const hash = createHash('sha256');
  // Ids hold no NUL.
  hash.update(ids.join('\0'));
  return hash.digest('base64url').slice(0, 24);
}
