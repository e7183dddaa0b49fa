import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { brokenNames } from '../../scripts/api/broken-names.ts';
import { entriesOf, exportsOf } from '../../scripts/api/exports.ts';
import {
  comparedExports,
  publishedPackages,
  releasedPath,
  snapshotOf,
  snapshotPath,
} from '../../scripts/api/snapshot.ts';
import { readChangesets } from '../../scripts/release/read-changesets.ts';
import { root } from './source-files.ts';

const packages = publishedPackages();

/** The most names that the main entry of a package may export. */
const limits: Readonly<Record<string, number>> = { lifecycle: 40, protocol: 60, server: 57 };

/** Packages whose entries the test imports, to compare what they really export. */
const light = ['auth', 'bindings', 'bindings-v0-3', 'client', 'lifecycle', 'protocol', 'store'];

describe('the lists in test/api', () => {
  it.each(packages)('have the exports of $name: after a change, run `pnpm api --write`', (one) => {
    expect(snapshotOf(one)).toBe(readFileSync(snapshotPath(one), 'utf8'));
  });

  it('are of published packages only', () => {
    const expected = packages.map((one) => basename(snapshotPath(one)));
    expect(readdirSync(join(root, 'test/api')).sort()).toEqual([...expected, 'released'].sort());
    expect(expected).toEqual(expect.arrayContaining(readdirSync(dirname(releasedPath(packages[0]!)))));
  });
});

describe('the names of the last release', () => {
  const changesets = readChangesets(join(root, '.changeset'));

  it.each(packages)('are in $name, unless a changeset of it says that they go', (one) => {
    expect(brokenNames(comparedExports(one), changesets)).toEqual([]);
  });

  const released = '@batonjs/x (2)\n  A: type and value\n  b: value\n\n@batonjs/x/more (1)\n  c: value\n';
  const [a, b, c] = ['@batonjs/x: the value A', '@batonjs/x: the value b', '@batonjs/x/more: the value c'];
  const bumps = (bump: string, name = '@batonjs/x') => [
    { file: 'a.md', bumps: { [name]: bump }, summary: '' },
  ];
  it.each([
    ['are all there', released, '0.1.0', [], []],
    ['have others beside them', `${released}  d: value\n`, '0.1.0', [], []],
    ['are gone', released.replace('  b: value\n', ''), '0.1.0', [], [b]],
    ['are types only', released.replace('type and value', 'type'), '0.1.0', [], [a]],
    ['moved to another entry', released.replace('\n\n@batonjs/x/more (1)', ''), '0.1.0', [], [c]],
    ['are gone with their package', '', '0.1.0', bumps('patch'), ['@batonjs/x: the type A', a, b, c]],
    ['are gone with a minor of another package', '', '0.1.0', bumps('minor', '@batonjs/y'), 4],
    ['are gone with a minor before 1.0', '', '0.1.0', bumps('minor'), []],
    ['are gone with a major before 1.0', '', '0.1.0', bumps('major'), []],
    ['are gone with a minor from 1.0 on', '', '1.4.0', bumps('minor'), 4],
    ['are gone with a major from 1.0 on', '', '1.4.0', bumps('major'), []],
  ])('%s', (_, now, version, announced, expected) => {
    const found = brokenNames({ name: '@batonjs/x', version, now, released }, announced);
    expect(typeof expected === 'number' ? found.length : found).toEqual(expected);
  });
});

describe('the exports of', () => {
  const entries = packages
    .filter(({ name }) => light.includes(name))
    .flatMap((one) => entriesOf(one))
    .map(({ name, path }) => ({ name, path }));

  it.each(entries)('$name are those that the list finds in its source', async ({ path }) => {
    const values = exportsOf(path).filter(({ kinds }) => kinds.some((kind) => kind !== 'type'));
    expect(Object.keys(await import(path)).sort()).toEqual(values.map(({ name }) => name).sort());
  });

  it.each(Object.entries(limits))('%s are at most %i', (name, limit) => {
    const [main] = entriesOf(packages.find((one) => one.name === name)!);
    expect(exportsOf(main!.path).length).toBeLessThanOrEqual(limit);
  });
});
