/**
 * `pnpm test:recipes`: installs the frameworks that are too large for every clone, compiles their recipes of
 * docs/language-models.md and runs them.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'test/language-models/large');
const bin = join(root, 'node_modules/.bin');

// Their own lockfile; none of them needs its install scripts here.
run(process.env.npm_execpath ?? 'pnpm', [
  'install',
  '--ignore-workspace',
  '--ignore-scripts',
  '--frozen-lockfile',
]);
run(join(bin, 'tsc'), ['-p', '.']);
run(join(bin, 'vitest'), ['run']);

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
