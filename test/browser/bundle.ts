import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as Client from '@batonjs/client';
import { build } from 'tsup';

declare global {
  /** The client, in a page that loaded {@link clientBundle}. */
  var baton: typeof Client;
}

/** The client as a page loads it: the build for browsers, in one file. Another client is named by its source. */
export async function clientBundle(source = '@batonjs/client'): Promise<string> {
  // Below the repository, so that the program finds what it imports.
  const folder = mkdtempSync(join(import.meta.dirname, '.bundle-'));
  try {
    const program = join(folder, 'program.ts');
    await writeFile(program, `import * as client from '${source}'; globalThis.baton = client;`);
    await build({
      entry: { program },
      outDir: folder,
      config: false,
      silent: true,
      format: 'esm',
      target: 'es2023',
      platform: 'browser',
      noExternal: [/./],
      esbuildOptions(options) {
        options.conditions = ['@batonjs/source'];
      },
    });
    return await readFile(join(folder, 'program.js'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
