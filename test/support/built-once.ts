import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../repository/source-files.ts';

/**
 * A folder that a build fills, from the sources as they are now: globs below the root of the repository. A build after which no
 * source was written, and nothing was installed, is taken again, by other files of tests and in other runs. Processes that ask
 * at once wait for one of them.
 */
export async function builtOnce(
  name: string,
  sources: readonly string[],
  build: (outDir: string) => Promise<unknown>,
): Promise<string> {
  const kept = join(root, 'node_modules/.cache', name);
  const place = join(kept, stampOf([...globSync([...sources], { cwd: root }).sort(), 'pnpm-lock.yaml']));
  mkdirSync(kept, { recursive: true });
  const builder = `${place}.builder`;
  while (!existsSync(place)) {
    if (isTaken(builder)) await sleep(20);
    else await buildAt(place, build).finally(() => rmSync(builder, { force: true }));
  }
  return place;
}

async function buildAt(place: string, build: (outDir: string) => Promise<unknown>): Promise<void> {
  // The builder before may have been done just before this one took its turn.
  if (existsSync(place)) return;
  const kept = dirname(place);
  const outDir = mkdtempSync(join(kept, 'building-'));
  try {
    await build(outDir);
    renameSync(outDir, place);
  } catch (error) {
    rmSync(outDir, { recursive: true, force: true });
    // Two processes may have found at once that a builder had died.
    if (!existsSync(place)) throw error;
  }
  removeOld(kept);
}

const codeOf = (error: unknown): unknown => Object(error).code;

/** Whether another process that lives has the file; if not, this one has it now. */
function isTaken(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return false;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (hasDied(file)) rmSync(file, { force: true });
    return true;
  }
}

/** Whether the process is gone that wrote the file. One that is writing it now is there. */
function hasDied(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return pid > 0 && !process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** A word that is another one after any of the files was written, or came or went. */
function stampOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of files) hash.update(`${path} ${statSync(join(root, path)).mtimeMs}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Builds of sources that were changed since: not those that a run beside this one may have open. */
function removeOld(kept: string): void {
  const yesterday = Date.now() - 24 * 3_600_000;
  for (const name of globSync('*', { cwd: kept }))
    if ((statSync(join(kept, name), { throwIfNoEntry: false })?.mtimeMs ?? yesterday) < yesterday)
      rmSync(join(kept, name), { recursive: true, force: true });
}
