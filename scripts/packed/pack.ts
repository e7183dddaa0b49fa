import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The repository's root folder. */
export const root = resolve(import.meta.dirname, '../..');

/** The pnpm that runs this script, or the one on the path. */
export const pnpm = process.env.npm_execpath ?? 'pnpm';

/** A package as it would be published. */
export interface Tarball {
  readonly name: string;
  readonly path: string;
  /** The folder that it was packed from. Absent for one that was published. */
  readonly source?: string;
}

/**
 * Builds every publishable package and packs it into `folder`, which must exist. With `wanted`, only those and what they
 * depend on.
 */
export async function packAll(folder: string, wanted?: readonly string[]): Promise<Tarball[]> {
  const all = publishable();
  const chosen = wanted ? withDependencies(wanted, all) : all;
  // Without what only their tests use.
  const filters = wanted ? ['--only', ...[...chosen.keys()].map((name) => `--filter=${name}`)] : [];
  const building = run(process.execPath, ['scripts/turbo.ts', 'build', ...filters], { cwd: root });
  await building.catch(({ stdout }) => {
    throw new Error(`The build failed:\n${stdout}`);
  });
  return await Promise.all([...chosen.values()].map(({ path }) => pack(path, folder)));
}

interface Publishable {
  readonly path: string;
  /** Names of packages, ours and those of others. */
  readonly dependencies: readonly string[];
}

/** The packages that are published, by their names. */
function publishable(): Map<string, Publishable> {
  const found = new Map<string, Publishable>();
  for (const folder of readdirSync(join(root, 'packages'))) {
    const path = join(root, 'packages', folder);
    const file = join(path, 'package.json');
    if (!existsSync(file)) continue;
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    if (manifest.private !== true) found.set(manifest.name, { path, dependencies });
  }
  return found;
}

function withDependencies(
  wanted: readonly string[],
  all: ReadonlyMap<string, Publishable>,
): Map<string, Publishable> {
  const chosen = new Map<string, Publishable>();
  const queue = [...wanted];
  for (const name of queue) {
    const found = all.get(name);
    if (!found || chosen.has(name)) continue;
    chosen.set(name, found);
    queue.push(...found.dependencies);
  }
  return chosen;
}

async function pack(path: string, folder: string): Promise<Tarball> {
  const { stdout } = await run(pnpm, ['pack', '--json', '--pack-destination', folder], { cwd: path });
  const { name, filename } = JSON.parse(stdout);
  return { name, path: resolve(folder, filename), source: path };
}
