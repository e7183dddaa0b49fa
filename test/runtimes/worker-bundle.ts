import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { root } from '../repository/source-files.ts';

/**
 * A module, by its place or its code, as one file for workerd, as wrangler makes it. Modules of Node.js stay imports, and
 * nothing replaces them.
 */
export async function workerBundle(module: URL | string): Promise<string> {
  const { outputFiles } = await build({
    ...(typeof module === 'string'
      ? { stdin: { contents: module, resolveDir: root, loader: 'ts' } }
      : { entryPoints: [fileURLToPath(module)] }),
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['@batonjs/source', 'workerd', 'worker', 'browser'],
    external: ['node:*'],
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}
