/**
 * `pnpm api`: compares the exports of every published package with the lists in `test/api`, and fails when one differs, or
 * when a name of the last release is gone and no changeset says so. `--write` updates the lists.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { brokenNames } from './api/broken-names.ts';
import { comparedExports, publishedPackages, readIfThere, snapshotOf, snapshotPath } from './api/snapshot.ts';
import { readChangesets } from './release/read-changesets.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const packages = publishedPackages();
const folder = dirname(snapshotPath(packages[0]!));
const stale = packages.filter((one) => readIfThere(snapshotPath(one)) !== snapshotOf(one));
const names = new Set(packages.map((one) => basename(snapshotPath(one))));
const left = existsSync(folder)
  ? readdirSync(folder).filter((name) => name.endsWith('.txt') && !names.has(name))
  : [];

if (values.write) {
  mkdirSync(folder, { recursive: true });
  for (const one of stale) writeFileSync(snapshotPath(one), snapshotOf(one));
  for (const name of left) rmSync(join(folder, name));
} else {
  for (const { name } of stale) console.error(`The exports of ${name} changed: run \`pnpm api --write\``);
  for (const name of left) console.error(`test/api/${name} is of no package: run \`pnpm api --write\``);
  process.exitCode = stale.length + left.length > 0 ? 1 : 0;
}

const changesets = readChangesets('.changeset');
for (const name of packages.flatMap((one) => brokenNames(comparedExports(one), changesets))) {
  console.error(`The last release had ${name}: say in a changeset that it goes`);
  process.exitCode = 1;
}
