/**
 * `pnpm release:version`: what changesets does to versions and CHANGELOGs, and for a package that was never released a
 * CHANGELOG of what it can do. Works on the folder it is started in.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstChangelog } from './release/first-changelog.ts';
import { readChangesets } from './release/read-changesets.ts';

const folders = globSync('packages/*/package.json').map((file) => join(file, '..'));
const unreleased = folders.filter((folder) => !existsSync(join(folder, 'CHANGELOG.md')));
const changesets = readChangesets('.changeset');

const { status } = spawnSync('changeset', ['version'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

for (const folder of unreleased.filter((path) => existsSync(join(path, 'CHANGELOG.md')))) {
  const { name, version, description } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const features = changesets.filter(({ bumps }) => bumps[name] === 'minor').map(({ summary }) => summary);
  writeFileSync(join(folder, 'CHANGELOG.md'), firstChangelog({ name, version, description, features }));
}
