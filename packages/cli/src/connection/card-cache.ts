import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CachedCard, CardCache } from '@batonjs/client';

/** Keeps cards in files for as long as their agents allow. A cache that cannot be written is none. */
export function fileCardCache(home: string): CardCache {
  const folder = join(home, '.cache/a2a-cli/cards');
  const pathOf = (url: string) => join(folder, `${createHash('sha256').update(url).digest('hex')}.json`);
  return {
    get(url) {
      try {
        return JSON.parse(readFileSync(pathOf(url), 'utf8')) as CachedCard;
      } catch {
        return undefined;
      }
    },
    set(url, cached) {
      if (cached.etag === null && cached.freshUntil <= Date.now()) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(pathOf(url), JSON.stringify(cached), { mode: 0o600 });
      } catch {
        // Read again next time.
      }
    },
  };
}
