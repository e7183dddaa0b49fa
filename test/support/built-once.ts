import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../repository/source-files.ts';

/**
 * A folder that a build fills, from the sources as they are now: globs below the root of the repository. A build after which no
 * source was written, and nothing was installed, is taken again, by other files of tests and in other runs.
 */
export async function builtOnce(
  name: string,
  sources: readonly string[],
  build: (outDir: string) => Promise<unknown>,
): Promise<string> {
  const kept = join(root, 'node_modules/.cache', name);
  const place = join(kept, stampOf([...globSync([...sources], { cwd: root }).sort(), 'pnpm-lock.yaml']));
  if (existsSync(place)) return place;
  mkdirSync(kept, { recursive: true });
  const outDir = mkdtempSync(join(kept, 'building-'));
  try {
    await build(outDir);
    renameSync(outDir, place);
  } catch (error) {
    rmSync(outDir, { recursive: true, force: true });
    // Another process may have built the same meanwhile.
    if (!existsSync(place)) throw error;
  }
  removeOld(kept);
  return place;
}

/** A word that is another one after any of the files was written, or came or went. */
function stampOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of files) hash.update(`${path} ${statSync(join(root, path)).mtimeMs}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Builds of sources that were changed since: not those that a run beside this one may have open. */
function removeOld(kept: string): void {
  const yesterday = Date.now() - 24 * 3_600_000;
  for (const name of globSync('*', { cwd: kept }))
    if ((statSync(join(kept, name), { throwIfNoEntry: false })?.mtimeMs ?? yesterday) < yesterday)
      rmSync(join(kept, name), { recursive: true, force: true });
}
