/** Packs every package as it would be published and lets publint and are-the-types-wrong judge the tarballs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeAll } from './packed/judge.ts';
import { packAll } from './packed/pack.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-packed-'));
try {
  const tarballs = await packAll(folder);
  if ((await judgeAll(tarballs)) > 0) process.exitCode = 1;
  process.stdout.write(`${tarballs.length} packages packed and checked\n`);
} finally {
  rmSync(folder, { recursive: true });
}
