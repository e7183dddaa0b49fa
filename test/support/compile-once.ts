import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../repository/source-files.ts';

/**
 * Before a run of the tests: the processes that tests start share what Node.js compiled, types stripped, in
 * `node_modules/.cache`; half of the time of a start goes into that. Node.js finds entries by the content of a file, so
 * that it misses no edit. A process that is killed leaves nothing there: the first run loads every package once for all.
 */
export default function compileOnce(): void {
  const folder = join(root, 'node_modules/.cache/compiled', process.version);
  process.env.NODE_COMPILE_CACHE ??= folder;
  if (process.env.NODE_COMPILE_CACHE !== folder || existsSync(folder)) return;
  const entries = globSync('packages/*/src/index.ts', { cwd: root });
  const urls = entries.map((entry) => pathToFileURL(join(root, entry)).href);
  // A package whose optional driver is missing is compiled when it is needed.
  const program = `await Promise.allSettled(${JSON.stringify(urls)}.map((url) => import(url))); process.exit();`;
  const args = ['--conditions=@batonjs/source', '--input-type=module', '--eval', program];
  spawnSync(process.execPath, args, { stdio: 'ignore' });
}
