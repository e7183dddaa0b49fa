import { globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
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
const commonJs = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(${JSON.stringify(join(root, 'package.json'))});`;

/** What a file was made of: each source, and when it was written. Names of packages lead where their manifests say. */
function stampsOf(sources: readonly string[]): Readonly<Record<string, number>> {
  const manifests = globSync('{packages,apps}/*/package.json', { cwd: root });
  const stamp = (path: string) => [path, statSync(join(root, path)).mtimeMs] as const;
  return Object.fromEntries([...sources, ...manifests].map(stamp));
}

/** Whether the file is there, and none of what it was made of was written since. */
function isCurrent(file: string): boolean {
  try {
    const stamps = readFileSync(`${file}.json`, 'utf8');
    return JSON.stringify(stampsOf(JSON.parse(stamps).sources)) === JSON.stringify(JSON.parse(stamps).stamps);
  } catch {
    return false;
  }
}

/**
 * Makes one file of a program and all that it imports, from the sources as they are now: for programs that tests start
 * often. Loading some hundred sources takes most of the time of a start. A file whose sources were not written since is taken
 * again. Resolves to the place of the file.
 */
export async function asOneFile(program: URL): Promise<string> {
  const path = fileURLToPath(program);
  const folder = join(root, 'node_modules/.cache/programs');
  const file = join(folder, relative(root, path).replaceAll(/[/\\]/g, '-').replace(/\.ts$/, '.mjs'));
  if (isCurrent(file)) return file;
  const begun = Date.now();
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    metafile: true,
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
  const sources = Object.keys(metafile.inputs);
  const read = stampsOf(sources);
  // A source that was written meanwhile may be in the file or not: the file is made again next time.
  const stamps = Object.values(read).every((written) => written < begun) ? read : {};
  mkdirSync(folder, { recursive: true });
  // Other processes may start the file meanwhile.
  for (const [name, text] of [
    [file, outputFiles[0]!.text],
    [`${file}.json`, JSON.stringify({ sources, stamps })],
  ] as const) {
    const written = `${name}.${process.pid}`;
    await writeFile(written, text);
    await rename(written, name);
  }
  return file;
}
