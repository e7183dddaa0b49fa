import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { builtOnce } from '../../../test/support/built-once.ts';

const folder = join(import.meta.dirname, '..');
const sources = ['packages/*/src/**/*.*', 'packages/*/package.json', 'packages/inspector/vite.config.ts'];

/** Builds the app where the package has it. */
export async function buildApp(): Promise<void> {
  const place = join(folder, 'dist/app');
  const built = await builtApp();
  rmSync(place, { recursive: true, force: true });
  cpSync(built, place, { recursive: true });
}

/** The folder with the app, built from the sources as they are now. */
export const builtApp = (): Promise<string> =>
  builtOnce('inspector-app', sources, (outDir) =>
    build({
      configFile: join(folder, 'vite.config.ts'),
      root: join(folder, 'src/app'),
      logLevel: 'error',
      build: { outDir },
    }),
  );
