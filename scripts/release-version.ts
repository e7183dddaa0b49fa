/**
 * `pnpm release:version`: what changesets does to versions and CHANGELOGs, and the lists of exports, which become those of
 * the last release. Works on the folder it is started in.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readChangesets } from './release/read-changesets.ts';

// A release whose changesets were consumed is rehearsed once more before it is published.
if (readChangesets('.changeset').length > 0) {
  const { status } = spawnSync('changeset', ['version'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
for (const list of globSync('test/api/*.txt')) cpSync(list, join('test/api/released', basename(list)));
