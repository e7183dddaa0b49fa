import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';

const folder = join(import.meta.dirname, '..');

/** Builds the app where the package has it. */
export const buildApp = () => buildInto(join(folder, 'dist/app'));

/** Builds the app from the sources into a folder of its own. */
export async function builtApp(): Promise<{ readonly folder: string; remove(): void }> {
  const outDir = mkdtempSync(join(tmpdir(), 'baton-inspector-'));
  await buildInto(outDir);
  return { folder: outDir, remove: () => rmSync(outDir, { recursive: true, force: true }) };
}

async function buildInto(outDir: string): Promise<void> {
  await build({
    configFile: join(folder, 'vite.config.ts'),
    root: join(folder, 'src/app'),
    logLevel: 'error',
    build: { outDir },
  });
}
