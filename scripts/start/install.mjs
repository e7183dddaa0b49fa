import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageManager } from './platform.mjs';

/** Whether a clone has the packages of its tests, too. */
const isComplete = (root) => existsSync(join(root, 'node_modules/.bin/vitest'));

/**
 * Installs what a package of the repository needs to run, and nothing that only tests need; all packages in a clone that
 * has those. What the package manager prints goes to `output`: a file descriptor or `inherit`. `isQuiet`: it prints errors only.
 */
export function install(root, name, { output = 'inherit', isQuiet = false } = {}) {
  const part = isComplete(root) ? [] : ['--prod', '--filter-prod', `${name}...`, '--trust-lockfile'];
  const [command, ...first] = packageManager(process.env.npm_execpath, process.platform, process.execPath);
  run(command, [...first, 'install', ...part, ...(isQuiet ? ['--loglevel=error'] : [])], root, output);
}

/** Runs a command to its end, and ends with its exit code if that is not 0. */
export function run(command, args, cwd, output = 'inherit') {
  // Notices about newer versions of tools are of no use to those who try the agents.
  const env = { ...process.env, NO_UPDATE_NOTIFIER: '1', npm_config_update_notifier: 'false' };
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['inherit', output, output] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
