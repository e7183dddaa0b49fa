import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './links.ts';

/** A package that others install. */
export interface Package {
  /** The folder below `packages`. */
  readonly folder: string;
  /** Under which name it is installed. */
  readonly name: string;
  /** What others import from it. Programs have none. */
  readonly entries: readonly Entry[];
}

/** One entry of a package. */
export interface Entry {
  /** Under which name it is imported. */
  readonly specifier: string;
  /** Its page, as a path below `docs/reference` without extension. */
  readonly page: string;
  /** Its source, as a path in the repository. */
  readonly source: string;
}

/** Entries that only packages of Baton import. They promise nothing to others. */
const inner = /\/(internals|adapter)$/;

/** The published packages, in the order of their names. */
export function publishedPackages(): Package[] {
  return readdirSync(join(root, 'packages'))
    .map((folder) => ({ folder, manifest: manifestOf(folder) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({
      folder,
      name: manifest.name,
      entries: entriesOf(folder, manifest.name, manifest.exports ?? {}),
    }));
}

type Exports = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

function entriesOf(folder: string, name: string, exports: Exports): Entry[] {
  return Object.entries(exports).flatMap(([subpath, target]) => {
    const specifier = name + subpath.slice(1);
    const source = typeof target === 'string' ? undefined : target['@batonjs/source'];
    if (source === undefined || inner.test(specifier)) return [];
    const page = `${folder}/${subpath === '.' ? 'api' : subpath.slice(2)}`;
    return [{ specifier, page, source: join('packages', folder, source) }];
  });
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
