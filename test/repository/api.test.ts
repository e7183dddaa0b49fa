import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entriesOf, exportsOf } from '../../scripts/api/exports.ts';
import { publishedPackages, snapshotOf, snapshotPath } from '../../scripts/api/snapshot.ts';
import { root } from './source-files.ts';

const packages = publishedPackages();

/** The most names that the main entry of a package may export. */
const limits: Readonly<Record<string, number>> = { protocol: 60, server: 57 };

/** Packages whose entries the test imports, to compare what they really export. */
const light = ['auth', 'bindings', 'bindings-v0-3', 'client', 'lifecycle', 'protocol', 'store'];

describe('the lists in test/api', () => {
  it.each(packages)('have the exports of $name: after a change, run `pnpm api --write`', (one) => {
    expect(snapshotOf(one)).toBe(readFileSync(snapshotPath(one), 'utf8'));
  });

  it('are of published packages only', () => {
    const expected = packages.map((one) => basename(snapshotPath(one)));
    expect(readdirSync(join(root, 'test/api')).sort()).toEqual(expected.sort());
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
