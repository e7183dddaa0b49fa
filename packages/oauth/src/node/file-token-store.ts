import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredToken, TokenStore } from '../tokens/token-store.ts';

/**
 * Keeps tokens in a directory, each in a file that only its user can read. Several processes may use the directory: a
 * file is replaced as a whole. The directory is made if it does not exist. A file that cannot be parsed counts as none.
 */
export function fileTokenStore(directory: string): TokenStore {
  const pathOf = (key: string) => join(directory, `${createHash('sha256').update(key).digest('hex')}.json`);
  return {
    async get(key) {
      let text: string;
      try {
        text = await readFile(pathOf(key), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
      try {
        return JSON.parse(text) as StoredToken;
      } catch {
        return undefined;
      }
    },
    async set(key, token) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const next = join(directory, `${randomUUID()}.tmp`);
      try {
        await writeFile(next, JSON.stringify(token), { mode: 0o600, flag: 'wx' });
        await rename(next, pathOf(key));
      } catch (error) {
        await rm(next, { force: true });
        throw error;
      }
    },
    delete: (key) => rm(pathOf(key), { force: true }),
  };
}
