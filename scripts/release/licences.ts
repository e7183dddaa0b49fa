import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pnpm, root } from '../packed/pack.ts';

/** Licences of dependencies that an Apache-2.0 package may bring. */
const allowed = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'],
]);

/** Packages that may have another one: Vite and Vitest bring it, unchanged, and nothing of ours has it inside. */
const excepted = /^lightningcss(-|$)/;

/**
 * A line for each package that has none of those licences, among those that our packages bring, that users install beside
 * them, and that the page of the inspector is built with.
 */
export async function licenceComplaints(): Promise<string[]> {
  const args = ['--filter', '.', '--filter', './packages/*', 'licenses', 'list', '--prod', '--json'];
  const { stdout } = await promisify(execFile)(pnpm, args, { cwd: root, maxBuffer: 1e8 });
  const found: Readonly<Record<string, readonly { readonly name: string }[]>> = JSON.parse(stdout);
  return Object.entries(found).flatMap(([licence, packages]) =>
    packages
      .filter(({ name }) => !isAllowed(licence) && !excepted.test(name))
      .map(({ name }) => `${name} has the licence ${licence}, which is not in the list`),
  );
}

/** Whether an SPDX expression, whose parts are joined by `OR` or by `AND`, can be met with the list. */
export function isAllowed(expression: string): boolean {
  const options = expression.replaceAll(/[()]/g, '').split(' OR ');
  return options.some((option) => option.split(' AND ').every((licence) => allowed.has(licence)));
}
