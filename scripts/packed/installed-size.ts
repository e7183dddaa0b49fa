import { execFile } from 'node:child_process';
import { globSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tarball } from './pack.ts';

const run = promisify(execFile);

/** What Baton's part of an installed `@batonjs/server` takes on a disk at most, in bytes. */
const mostOfServer = 5_000_000;
const blockBytes = 4_096;

/** The complaints about the size of `@batonjs/server` with those packages of ours that it brings. */
export async function sizeComplaints(tarballs: readonly Tarball[]): Promise<string[]> {
  const names = new Set(['@batonjs/server']);
  let size = 0;
  for (const name of names) {
    const path = tarballs.find((tarball) => tarball.name === name)!.path;
    const { stdout } = await run('tar', ['-xzOf', path, 'package/package.json']);
    for (const needed of Object.keys(JSON.parse(stdout).dependencies ?? {}))
      if (needed.startsWith('@batonjs/')) names.add(needed);
    size += await bytesOnDisk(path);
  }
  return size > mostOfServer
    ? [`Its install has ${size} bytes of ours, and at most ${mostOfServer} may be`]
    : [];
}

async function bytesOnDisk(path: string): Promise<number> {
  const { stdout } = await run('tar', ['-tvzf', path]);
  const sizes = Array.from(stdout.matchAll(/^-\S+ +\S+ +(\d+) /gm), ([, bytes]) => Number(bytes));
  return sizes.reduce((sum, bytes) => sum + inBlocks(bytes), 0);
}

const inBlocks = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

/** How many packages npm installed into a project, and what they take on the disk: ours, and all. */
export function installedSize(folder: string) {
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  const ours = { packages: 0, bytes: 0 };
  const all = { packages: 0, bytes: 0 };
  for (const path of Object.keys(lock.packages)) {
    const files = globSync('**/*', { cwd: join(folder, path), exclude: ['node_modules'] });
    const sizes = files.map((file) => lstatSync(join(folder, path, file))).filter((each) => each.isFile());
    const bytes = sizes.reduce((sum, { size }) => sum + inBlocks(size), 0);
    for (const counted of /\/(@batonjs\/[^/]+|create-baton)$/.test(path) ? [ours, all] : [all]) {
      counted.packages += 1;
      counted.bytes += bytes;
    }
  }
  return { ours, all };
}
