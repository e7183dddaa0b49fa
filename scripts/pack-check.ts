/** Packs every package as it would be published and lets publint and are-the-types-wrong judge the tarballs. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packAll, type Tarball } from './packed/pack.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'baton-packed-'));
try {
  const tarballs = await packAll(folder);
  const queue = tarballs.values();
  // Each judge is a process of its own and busy with one core.
  await Promise.all([judgeAll(queue), judgeAll(queue)]);
  process.stdout.write(`${tarballs.length} packages packed and checked\n`);
} finally {
  rmSync(folder, { recursive: true });
}

async function judgeAll(queue: Iterable<Tarball>): Promise<void> {
  for (const tarball of queue) {
    for (const complaint of [...(await lint(tarball)), ...(await checkTypes(tarball))]) {
      process.stderr.write(`${tarball.name}: ${complaint}\n`);
      process.exitCode = 1;
    }
  }
}

async function lint({ path }: Tarball): Promise<string[]> {
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(readFileSync(path)).buffer } });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

async function checkTypes({ path }: Tarball): Promise<string[]> {
  try {
    await run('attw', [path, '--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji']);
    return [];
  } catch (cause) {
    return [(cause as { stdout?: string }).stdout || String(cause)];
  }
}
