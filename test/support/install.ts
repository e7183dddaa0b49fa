import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { reportMissing } from './missing.ts';

const exec = promisify(execFile);
const apt = (name: string) => `apt-get install -y --no-install-recommends ${name}`;

/**
 * Installs a package of Debian if this is root there. Test files run at once, so one waits for the other. Resolves whether
 * or not it worked: check for the program afterwards.
 */
export async function installWithApt(name: string): Promise<void> {
  const runs = await exec('apt-get', ['--version']).catch(() => undefined);
  if (process.getuid?.() !== 0 || !runs) return;
  const script = `${apt(name)} || { apt-get update && ${apt(name)}; }`;
  await exec('flock', [join(tmpdir(), 'baton-apt.lock'), 'sh', '-c', script], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: unknown) => reportMissing(`Installing ${name} did not work: ${firstLineOf(error)}.`));
}

const firstLineOf = (error: unknown): string => String(error).split('\n', 1)[0]!;
