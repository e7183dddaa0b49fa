import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from '../../../test/repository/source-files.ts';

const folder = join(import.meta.dirname, '..');
const kept = join(root, 'node_modules/.cache/inspector-app');

/** Builds the app where the package has it. */
export async function buildApp(): Promise<void> {
  const place = join(folder, 'dist/app');
  const built = await builtApp();
  rmSync(place, { recursive: true, force: true });
  cpSync(built, place, { recursive: true });
}

/**
 * The folder with the app, built from the sources as they are now. Several files of tests open it: one that was built since
 * a source was written is taken again.
 */
export async function builtApp(): Promise<string> {
  const place = join(kept, sourcesNow());
  if (existsSync(place)) return place;
  mkdirSync(kept, { recursive: true });
  const outDir = mkdtempSync(join(kept, 'building-'));
  await build({
    configFile: join(folder, 'vite.config.ts'),
    root: join(folder, 'src/app'),
    logLevel: 'error',
    build: { outDir },
  });
  try {
    renameSync(outDir, place);
  } catch {
    // Another process built the same meanwhile.
    rmSync(outDir, { recursive: true });
  }
  return place;
}

/** A word that is another one after any source of the packages, or what is installed, was written. */
function sourcesNow(): string {
  const sources = globSync('packages/*/{src/**/*.*,package.json,vite.config.ts}', { cwd: root });
  const hash = createHash('sha256');
  for (const path of [...sources.sort(), 'pnpm-lock.yaml'])
    hash.update(`${path} ${statSync(join(root, path)).mtimeMs}\n`);
  return hash.digest('hex').slice(0, 16);
}
