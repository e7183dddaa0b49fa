import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, workspaces } from './source-files.ts';

const packages = workspaces().filter(({ manifest }) => manifest.private !== true);

/** The source of an entry, below `src` and without its extension. */
const sourceOf = (target: string | Record<string, string>): string =>
  /^\.\/src\/(.+)\.ts$/.exec(typeof target === 'string' ? target : (target['@batonjs/source'] ?? ''))?.[1] ??
  '';

/** What others import; a manifest that is exported as it stands is no source. */
const entriesOf = ({ exports = {} }: (typeof packages)[number]['manifest']) =>
  Object.entries(exports).filter(([subpath]) => subpath !== './package.json');

describe('the toolchain', () => {
  it('runs on the Node.js that the repository pins, also where the machine has another one', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const pinned = Object.entries<string>(manifest.optionalDependencies).filter(([name]) =>
      name.startsWith('node-'),
    );
    expect(new Set(pinned.map(([, version]) => `v${version}`))).toEqual(new Set([process.version]));
  });

  it('installs from whichever registry is configured: the lockfile names none', () => {
    expect(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')).not.toMatch(/https?:\/\//);
  });
});

describe.each(packages)('$manifest.name', ({ folder, manifest }) => {
  it('is published as ES modules for Node.js 22 and newer, under Apache-2.0, with its sources', () => {
    expect(manifest).toMatchObject({
      type: 'module',
      sideEffects: false,
      license: 'Apache-2.0',
      // A project is made on the Node.js that its user has.
      engines: { node: manifest.name === 'create-baton' ? '>=20' : '>=22' },
      files: expect.arrayContaining(['CHANGELOG.md', 'dist', 'src']),
      publishConfig: { access: 'public' },
    });
  });

  it('offers each entry as source for this repository and as built for everybody else', () => {
    for (const [subpath, target] of entriesOf(manifest)) {
      const path = sourceOf(target);
      // Its file has the entry's name, in whichever folder it lies.
      expect(basename(path)).toBe(subpath === '.' ? 'index' : subpath.slice(2));
      expect(target).toEqual({
        '@batonjs/source': `./src/${path}.ts`,
        types: `./dist/${path}.d.ts`,
        default: `./dist/${path}.js`,
      });
      expect(existsSync(join(root, folder, `src/${path}.ts`))).toBe(true);
    }
  });

  it('builds every entry it offers, and those it imports by condition', () => {
    const built = Array.from(
      manifest.scripts?.build?.matchAll(/src\/([\w/-]+)\.ts/g) ?? [],
      ([, name]) => name,
    );
    const programs = Object.values(manifest.bin ?? {}).map((path) => basename(path, '.js'));
    const offered = [...entriesOf(manifest).map(([, target]) => sourceOf(target)), ...new Set(programs)];
    const imported = JSON.stringify(manifest.imports ?? {}).matchAll(/\.\/src\/([\w/-]+)\.ts/g);
    expect(built.sort()).toEqual([...offered, ...Array.from(imported, ([, name]) => name)].sort());
  });
});
