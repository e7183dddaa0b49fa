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
}

/** Builds every publishable package and packs it into `folder`, which must exist. */
export async function packAll(folder: string): Promise<Tarball[]> {
  const building = run(process.execPath, ['scripts/turbo.ts', 'build'], { cwd: root });
  await building.catch(({ stdout }) => {
    throw new Error(`The build failed:\n${stdout}`);
  });
  const packages = readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter(isPublishable);
  return await Promise.all(packages.map((path) => pack(path, folder)));
}

async function pack(path: string, folder: string): Promise<Tarball> {
  const { stdout } = await run(pnpm, ['pack', '--json', '--pack-destination', folder], { cwd: path });
  const { name, filename } = JSON.parse(stdout);
  return { name, path: resolve(folder, filename) };
}

function isPublishable(path: string): boolean {
  const manifest = join(path, 'package.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).private !== true;
}
