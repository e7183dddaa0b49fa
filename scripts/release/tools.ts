import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../packed/pack.ts';
import { fetching } from './fetching.ts';

/** What only a rehearsal needs, at the versions that it was tried with. */
const packages = {
  verdaccio: ['verdaccio', '6.10.4'],
  yarn: ['@yarnpkg/cli-dist', '4.18.1'],
  bun: ['bun', '1.4.5'],
} as const;

/** Verdaccio asks for a tag of it that not every registry has. */
const overrides = { 'node-fetch': '2.7.0' };

/** Installs a tool with npm unless an earlier rehearsal did, and resolves to its program. */
export async function tool(name: keyof typeof packages): Promise<string> {
  const [wanted, version] = packages[name];
  const folder = join(root, 'node_modules/.cache/baton-release', `${name}-${version}`);
  const program = join(folder, 'node_modules/.bin', name);
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: { [wanted]: version }, overrides };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  await fetching(`${wanted} ${version}`, (signal) =>
    promisify(execFile)('npm', ['install', ...flags], { cwd: folder, signal }),
  );
  return program;
}
