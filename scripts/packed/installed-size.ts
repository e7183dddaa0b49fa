import { execFile } from 'node:child_process';
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
  return sizes.reduce((sum, bytes) => sum + Math.ceil(bytes / blockBytes) * blockBytes, 0);
}
