import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;

// Below the package, so that the imports of the program resolve.
beforeAll(async () => {
  folder = await mkdtemp(join(import.meta.dirname, '.bundle-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Bundles a program with all its imports, and returns the compressed size and the bundled modules. */
async function bundle(program: string, platform: 'browser' | 'neutral') {
  await writeFile(join(folder, 'program.ts'), program);
  await build({
    entry: { program: join(folder, 'program.ts') },
    outDir: join(folder, platform),
    config: false,
    silent: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2023',
    platform,
    noExternal: [/./],
    esbuildOptions(options) {
      options.conditions = ['@batonjs/source'];
    },
  });
  const { inputs } = JSON.parse(await readFile(join(folder, platform, 'metafile-esm.json'), 'utf8'));
  const code = await readFile(join(folder, platform, 'program.js'));
  return { bytes: gzipSync(code, { level: 9 }).length, modules: Object.keys(inputs).join('\n') };
}

const everything = `import * as client from '@batonjs/client'; globalThis.client = client;`;

describe('the bundle for a browser', () => {
  it('has at most 18.2 KiB, minified and compressed, with everything that the package exports', async () => {
    const { bytes } = await bundle(everything, 'browser');
    expect(bytes).toBeLessThanOrEqual(18.2 * 1_024);
  });

  it('has neither zod nor ky nor anything of Node.js', async () => {
    const { modules } = await bundle(everything, 'browser');
    expect(modules).not.toMatch(/node_modules\/(zod|ky)\/|node:/);
    expect(modules).toContain('http-browser.ts');
  });

  it('has ky where there is no browser', async () => {
    const { modules } = await bundle(everything, 'neutral');
    expect(modules).toMatch(/node_modules\/ky\//);
    expect(modules).not.toMatch(/node_modules\/zod\/|node:/);
  });
});
