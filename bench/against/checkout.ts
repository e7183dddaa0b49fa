import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A commit, built in a folder of its own. */
export interface Checkout {
  readonly commit: string;
  /** Its folder `bench`. */
  readonly bench: URL;
}

/**
 * Clones a commit of this repository into the folder for temporary files, installs what it needs and builds it. A later
 * call finds it built. Throws if there is no such commit, or if it does not build.
 */
export async function checkOut(revision: string): Promise<Checkout> {
  const commit = execFileSync('git', ['rev-parse', '--verify', `${revision}^{commit}`], {
    cwd: repository,
    encoding: 'utf8',
  }).trim();
  const folder = join(tmpdir(), `baton-bench-${commit.slice(0, 12)}`);
  if (!existsSync(folder)) {
    const unfinished = `${folder}-${process.pid}`;
    try {
      run('git', ['clone', '--quiet', '--shared', '--no-checkout', repository, unfinished], repository);
      run('git', ['checkout', '--quiet', '--detach', commit], unfinished);
      run('npx', ['-y', 'pnpm@12', 'install', '--frozen-lockfile', '--prefer-offline'], unfinished);
      run('npx', ['-y', 'pnpm@12', 'build'], unfinished);
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  return { commit, bench: pathToFileURL(join(folder, 'bench/')) };
}

function run(program: string, args: readonly string[], cwd: string): void {
  process.stderr.write(`${program} ${args.join(' ')}\n`);
  const { status, stdout, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}`);
}
