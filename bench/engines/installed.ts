import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installedFromNpm } from '../../test/support/npm-runtime.ts';

/** What the engines are made of: too much for everyone who installs the repository. `postgres` is a peer of openworkflow. */
const packages = {
  '@dbos-inc/dbos-sdk': '5.3.0',
  openworkflow: '0.10.1',
  postgres: '3.4.9',
  '@restatedev/restate-sdk': '1.17.2',
  '@restatedev/restate-server': '1.7.12',
  'pg-boss': '12.38.0',
} as const;

type Package = keyof typeof packages;

/** Installs the engines, unless an earlier run did. Resolves to their folder. */
export const installEngines = (): Promise<string> => {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  return installedFromNpm(`engines ${wanted.join(' ').replaceAll('/', '+')}`, [
    '--ignore-scripts',
    ...wanted,
  ]);
};

/** What a package or a part of it exports, from that folder. */
export const importFrom = <Exports>(folder: string, name: Package | `${Package}/${string}`): Exports =>
  createRequire(join(folder, 'package.json'))(name) as Exports;

/** The versions that are installed there. */
export const versionsIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(packages).map((name) => {
      const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
      return [name, (JSON.parse(manifest) as { version: string }).version];
    }),
  );
