import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../repository/source-files.ts';
import { reportMissing } from './missing.ts';

const exec = promisify(execFile);

/** The runtimes that tests install from npm, 100 MB each: too much for everyone who installs the repository. */
const versions = { bun: '1.4.5', deno: '2.9.6' } as const;

/** Installs packages into a folder of their own unless an earlier run did. Resolves to the folder; rejects without them. */
export async function installedFromNpm(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(root, 'node_modules/.cache/baton-runtimes', name);
  // npm writes it when all else is there.
  if (!existsSync(join(folder, 'node_modules/.package-lock.json'))) {
    mkdirSync(folder, { recursive: true });
    const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    await exec('npm', ['install', '--prefix', folder, ...flags, ...packages]);
  }
  return folder;
}

/**
 * Installs a runtime from npm unless an earlier run did, and resolves to its program. Undefined, and says so, where it
 * cannot be installed or does not run. Throws there on CI.
 */
export async function npmRuntime(name: keyof typeof versions): Promise<string | undefined> {
  const wanted = `${name}@${versions[name]}`;
  try {
    const program = join(await installedFromNpm(wanted, [wanted]), 'node_modules/.bin', name);
    await exec(program, ['--version']);
    return program;
  } catch (cause) {
    const missing = `No ${name} here: \`npm install ${wanted}\` does not give one that runs.`;
    if (process.env.CI === 'true') throw new Error(missing, { cause });
    reportMissing(missing);
    return undefined;
  }
}
