/**
 * `pnpm api`: compares the exports of every published package with the lists in `test/api`, and fails when one differs.
 * `--write` updates the lists.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { publishedPackages, snapshotOf, snapshotPath } from './api/snapshot.ts';

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const packages = publishedPackages();
const folder = dirname(snapshotPath(packages[0]!));
const stale = packages.filter((one) => read(snapshotPath(one)) !== snapshotOf(one));
const names = new Set(packages.map((one) => basename(snapshotPath(one))));
const left = existsSync(folder) ? readdirSync(folder).filter((name) => !names.has(name)) : [];

if (values.write) {
  mkdirSync(folder, { recursive: true });
  for (const one of stale) writeFileSync(snapshotPath(one), snapshotOf(one));
  for (const name of left) rmSync(join(folder, name));
} else {
  for (const { name } of stale) console.error(`The exports of ${name} changed: run \`pnpm api --write\``);
  for (const name of left) console.error(`test/api/${name} is of no package: run \`pnpm api --write\``);
  process.exitCode = stale.length + left.length > 0 ? 1 : 0;
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
