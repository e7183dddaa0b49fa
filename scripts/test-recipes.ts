/**
 * `pnpm test:recipes`: installs the frameworks that are too large for every clone, compiles their recipes of
 * docs/agents/language-models.md and docs/serving/frameworks.md and runs them; and the runtime of CopilotKit on AG-UI.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const languageModels = join(root, 'test/language-models/large');
const frameworks = join(root, 'test/frameworks/large');

install(languageModels);
run(languageModels, join(bin, 'tsc'), ['-p', '.']);
run(languageModels, join(bin, 'vitest'), ['run']);

// The build of Next.js takes packages as they are installed, and compiles the app itself.
install(join(frameworks, 'next'));
install(join(frameworks, 'copilotkit'));
const packages = ['client', 'react', 'server', 'store-memory', 'store-sqlite'].map(
  (name) => `--filter=@batonjs/${name}`,
);
run(root, process.execPath, [join(root, 'scripts/turbo.ts'), 'build', ...packages]);
run(frameworks, join(bin, 'vitest'), ['run']);

/** Installs from the folder's own lockfile; no package needs its install scripts here. */
function install(folder: string): void {
  const options = ['--ignore-workspace', '--ignore-scripts', '--frozen-lockfile'];
  run(folder, process.env.npm_execpath ?? 'pnpm', ['install', ...options]);
}

function run(cwd: string, command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
