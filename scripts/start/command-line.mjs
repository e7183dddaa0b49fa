/**
 * Runs before the command line of the clone: installs its packages where they are missing, as in a clone that has only
 * what `start` installs. Plain JavaScript without packages, as `start.mjs`. Prints to standard error: standard output is
 * the command's.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { install } from './install.mjs';

const root = resolve(import.meta.dirname, '../..');
if (!existsSync(join(root, 'packages/cli/node_modules/commander'))) {
  process.stderr.write('Installing the packages of the command line …\n');
  install(root, '@batonjs/cli', { output: 2 });
}
