import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, type Workspace, workspaces } from '../../test/repository/source-files.ts';
import type { Exports } from './broken-names.ts';
import { entriesOf, exportsOf } from './exports.ts';

/** The packages that are published. */
export const publishedPackages = (): Workspace[] => workspaces().filter(({ manifest }) => !manifest.private);

/** Where the list of a package's exports is kept. */
export const snapshotPath = ({ name }: Workspace): string => join(root, 'test/api', `${name}.txt`);

/** Where the list of a package's last release is kept. `release:version` writes it. */
export const releasedPath = ({ name }: Workspace): string => join(root, 'test/api/released', `${name}.txt`);

/** The exports of a package as text: for each entry its name, the number of its exports, and a line for each. */
export function snapshotOf(workspace: Workspace): string {
  const sections = entriesOf(workspace).map(({ name, path }) => {
    const found = exportsOf(path);
    const lines = found.map((one) => `  ${one.name}: ${one.kinds.join(' and ')}`);
    return [`${name} (${found.length})`, ...lines].join('\n');
  });
  return `${sections.join('\n\n')}\n`;
}

/** What a package exports by its list, beside what its last release exported. */
export function comparedExports(workspace: Workspace): Exports {
  const { name, version } = workspace.manifest;
  const [now = '', released = ''] = [snapshotPath(workspace), releasedPath(workspace)].map(readIfThere);
  return { name, version, now, released };
}

/** The text of a file. */
export function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
