import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'tsup';

/** The bytes of all that a package exports, minified and compressed, as a browser loads it; `without` these packages. */
export async function bundleSize(name: string, without: readonly string[] = []): Promise<number> {
  // Inside the repository, so that the program finds what it imports.
  const folder = await mkdtemp(join(import.meta.dirname, '.bundle-'));
  const beside = new RegExp(`^(?:${without.join('|')})(?:/|$)`);
  try {
    const program = join(folder, 'program.ts');
    await writeFile(program, `import * as client from '${name}'; globalThis.client = client;`);
    await build({
      entry: { program },
      outDir: join(folder, 'out'),
      config: false,
      silent: true,
      minify: true,
      format: 'esm',
      target: 'es2023',
      platform: 'browser',
      noExternal: [without.length > 0 ? new RegExp(`^(?!${beside.source.slice(1)})`) : /./],
      external: without.length > 0 ? [beside] : [],
      esbuildOptions(options) {
        options.conditions = ['@batonjs/source'];
      },
    });
    return gzipSync(await readFile(join(folder, 'out/program.js')), { level: 9 }).length;
  } finally {
    await rm(folder, { recursive: true });
  }
}
