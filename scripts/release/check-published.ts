import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import type { Tarball } from '../packed/pack.ts';
import type { Registry } from './registry.ts';

const run = promisify(execFile);
const { beforePacking } = createRequire(import.meta.url)('../../.pnpmfile.cjs').hooks;

/** A manifest of this repository, with the version that was released. */
export interface Source {
  readonly name: string;
  readonly version: string;
  readonly [member: string]: unknown;
}

/** Members that users depend on, which have to arrive as they were written. */
const asWritten = [
  'peerDependencies',
  'engines',
  'sideEffects',
  'type',
  'exports',
  'imports',
  'bin',
  'license',
];
const inEveryTarball = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];

/** Downloads a package into `folder` and compares it with its source: `complaints` is empty if it may be released so. */
export async function checkPublished(
  registry: Registry,
  written: Source,
  folder: string,
): Promise<{ tarball: Tarball; complaints: string[] }> {
  const source: Source = beforePacking(written);
  const published = await registry.manifest(source.name, source.version);
  const body = Buffer.from(await (await fetch(published.dist.tarball)).arrayBuffer());
  const path = join(folder, `${source.name.replace('/', '-')}.tgz`);
  writeFileSync(path, body);
  const { stdout } = await run('tar', ['-tzf', path]);
  const files = new Set(stdout.split('\n').map((line) => line.replace(/^package\//, '')));
  const complaints: string[] = [];
  const complain = (isRight: boolean, what: string): void => void (isRight || complaints.push(what));

  const [algorithm = '', digest] = published.dist.integrity.split('-');
  complain(
    createHash(algorithm).update(body).digest('base64') === digest,
    'the tarball is not what was published',
  );
  for (const member of asWritten)
    complain(isDeepStrictEqual(published[member], source[member]), `${member} is not as in the repository`);
  complain(
    !/"(workspace|link|file|catalog):/.test(JSON.stringify(published)),
    'a dependency has a local protocol',
  );
  for (const file of inEveryTarball) complain(files.has(file), `${file} is missing`);
  for (const target of targetsIn([source.exports, source.imports, source.bin]))
    complain(files.has(target.replace(/^\.\//, '')), `${target}, which the manifest names, is missing`);
  complain(
    Array.from(files).every(
      (file) => !/^(test\/|src\/|tsconfig|\.env|\.npmrc)|(^|\/)node_modules\//.test(file),
    ),
    'the tarball has files that are not for users',
  );
  complain(
    namesRepository(published),
    'the repository that provenance would name is not the one in the manifest',
  );
  return { tarball: { name: source.name, path }, complaints };
}

/** Every file that entries point to. */
function targetsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value && typeof value === 'object' ? Object.values(value).flatMap(targetsIn) : [];
}

/**
 * npm accepts provenance only if the manifest names the repository that the workflow runs in. Provenance itself is signed
 * with a token of GitHub, so that it exists for real releases only.
 */
function namesRepository({
  name,
  repository,
}: {
  readonly name: string;
  readonly repository?: unknown;
}): boolean {
  const directory = `packages/${name.replace('@batonjs/', '')}`;
  return isDeepStrictEqual(repository, {
    type: 'git',
    url: 'git+https://github.com/batonjs/baton.git',
    directory,
  });
}
