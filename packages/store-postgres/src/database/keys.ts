import { createHash } from 'node:crypto';

/** A digest of ids, of 24 characters, for indexes: ids may be longer than an index takes. */
export function keyOf(...ids: readonly string[]): string {
  const hash = createHash('sha256');
  // Ids hold no NUL.
  hash.update(ids.join('\0'));
  return hash.digest('base64url').slice(0, 24);
}

/** What stands among the words of tasks of a scope, so that an index of words looks there only. No word has its `=`. */
export const markOf = (scope: string): string => `=${keyOf(scope)}`;
