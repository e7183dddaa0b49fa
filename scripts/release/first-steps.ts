import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedSize } from '../packed/installed-size.ts';
import { runScript, tryProject } from '../packed/try-project.ts';
import { fetching } from './fetching.ts';
import type { Registry } from './registry.ts';

/** The packages that the README has for a beginner. */
const sixPackages = ['server', 'server-node', 'store-memory', 'store-sqlite', 'client']
  .map((name) => `@batonjs/${name}`)
  .concat('create-baton');

const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

/** Runs npm in a folder, with packages of the registry. Resolves to what it printed, and ends it at a bound. */
async function npm(cwd: string, registry: Registry, args: readonly string[]): Promise<string> {
  const cache = join(registry.folder, 'npm');
  const env = { ...process.env, npm_config_registry: registry.url, npm_config_cache: cache };
  const { stdout } = await fetching(`npm ${args[0]} ${args[1] ?? ''}`.trim(), (signal) =>
    promisify(execFile)('npm', [...args], { cwd, env, maxBuffer: 1e8, signal }),
  );
  return stdout.trim();
}

/** Installs the six first packages with npm. Resolves to how many packages that are, and how large. */
export async function installSix(folder: string, registry: Registry): Promise<string> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  await npm(folder, registry, ['install', ...sixPackages, ...quiet]);
  const { ours, all } = installedSize(folder);
  const text = ({ packages, bytes }: typeof ours) => `${packages} packages, ${(bytes / 1e6).toFixed(1)} MB`;
  return `The six first packages bring ${text(all)}; ours are ${text(ours)}`;
}

/**
 * What the first pages say: `npm create baton`, then the project's types, test, server and client, and `baton --version`.
 * Rejects where one of them does not do as they say.
 */
export async function createProject(
  folder: string,
  registry: Registry,
  version: (name: string) => string,
): Promise<void> {
  mkdirSync(folder);
  await npm(folder, registry, ['create', '-y', 'baton@latest', 'my-agent', '--', '--yes']);
  const project = { folder: join(folder, 'my-agent'), template: 'plain', node: process.execPath };
  await npm(project.folder, registry, ['install', '@batonjs/cli', ...quiet]);
  await runScript(project, 'check');
  await runScript(project, 'test');
  await tryProject(project);
  for (const [program, name] of [
    ['baton', '@batonjs/cli'],
    ['create-baton', 'create-baton'],
  ] as const) {
    const printed = await npm(project.folder, registry, ['exec', '-y', '--', program, '--version']);
    if (!printed.includes(version(name)))
      throw new Error(`${program} --version prints ${printed}, and not ${version(name)}`);
  }
}
