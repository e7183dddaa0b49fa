import { mkdirSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { root } from '../repository/source-files.ts';

/** Each source still knows where it stands. */
const places: Plugin = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text
        .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(pathToFileURL(path).href))
        .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(dirname(path)));
      return { contents, loader: 'ts' };
    });
  },
};

/** What programs of CommonJS in the file need. */
const commonJs = `import { createRequire } from 'node:module';
const require = createRequire(${JSON.stringify(join(root, 'package.json'))});`;

/**
 * Makes one file of a program and all that it imports, from the sources as they are now: for programs that tests start
 * often. Loading some hundred sources takes most of the time of a start. Resolves to the place of the file.
 */
export async function asOneFile(program: URL): Promise<string> {
  const path = fileURLToPath(program);
  const folder = join(root, 'node_modules/.cache/programs');
  const file = join(folder, relative(root, path).replaceAll(/[/\\]/g, '-').replace(/\.ts$/, '.mjs'));
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'es2024',
    conditions: ['@batonjs/source'],
    external: ['better-sqlite3', 'pg-native'],
    banner: { js: commonJs },
    plugins: [places],
    logLevel: 'silent',
  });
  mkdirSync(folder, { recursive: true });
  // Other processes may start the file meanwhile.
  const written = `${file}.${process.pid}`;
  await writeFile(written, outputFiles[0]!.text);
  await rename(written, file);
  return file;
}
