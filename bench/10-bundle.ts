import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'tsup';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { round, Values } from './harness/measure.ts';

const kilobytes = 'KB, minified and compressed';

/** What a browser loads for a client with all operations on both bindings. CI checks it in the client's own tests. */
export const benchmark: Benchmark = {
  number: 10,
  name: 'bundle',
  work: 'client bundle for the browser, minified and gzip',
  goals: [{ ratio: 'baton, KB', atMost: 15 }],
  growth: [{ ratio: 'baton, KB', atMost: 15 }],
  run,
};

async function run({ runs }: RunOptions): Promise<Measured> {
  const values = new Values();
  for (let n = 0; n < runs; n++) {
    values.add('baton', kilobytes, (await bundle('@batonjs/client')) / 1_000);
    values.add('official-sdk', kilobytes, (await bundle('@a2a-js/sdk/client')) / 1_000);
  }
  return {
    results: values.results,
    ratios: {
      'baton, KB': round(values.median('baton', kilobytes)),
      'baton / official-sdk': values.ratio('baton', 'official-sdk', kilobytes),
    },
  };
}

/** Everything that a package exports. */
async function bundle(name: string): Promise<number> {
  // Inside the repository, so that the program finds what it imports.
  const folder = await mkdtemp(join(import.meta.dirname, '.bundle-'));
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
      noExternal: [/./],
      esbuildOptions(options) {
        options.conditions = ['@batonjs/source'];
      },
    });
    return gzipSync(await readFile(join(folder, 'out/program.js')), { level: 9 }).length;
  } finally {
    await rm(folder, { recursive: true });
  }
}
