import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { undeclaredTypes } from './declared-types.ts';
import { sizeComplaints } from './installed-size.ts';
import type { Tarball } from './pack.ts';

const run = promisify(execFile);

/**
 * The complaints about a tarball: of publint and of are-the-types-wrong, about entries, files, and types for both
 * resolutions of ES modules, and those about types of others that it does not declare.
 */
async function judge(tarball: Tarball): Promise<string[]> {
  return [
    ...(await lint(tarball)),
    ...(await checkTypes(tarball)),
    ...(tarball.source ? undeclaredTypes(tarball.source) : []),
  ];
}

/** Judges the tarballs of all packages on two cores, and prints the complaints. Resolves to how many there were. */
export async function judgeAll(tarballs: readonly Tarball[]): Promise<number> {
  const queue = tarballs.values();
  let complaints = 0;
  // Each judge is a process of its own and busy with one core.
  await Promise.all([judgeQueue(), judgeQueue()]);
  for (const complaint of await sizeComplaints(tarballs)) complain('@batonjs/server', complaint);
  return complaints;

  async function judgeQueue(): Promise<void> {
    for (const tarball of queue) {
      for (const complaint of await judge(tarball)) complain(tarball.name, complaint);
    }
  }

  function complain(name: string, complaint: string): void {
    process.stderr.write(`${name}: ${complaint}\n`);
    complaints += 1;
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
