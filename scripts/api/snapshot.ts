import { join } from 'node:path';
import { root, type Workspace, workspaces } from '../../test/repository/source-files.ts';
import { entriesOf, exportsOf } from './exports.ts';

/** The packages that are published. */
export const publishedPackages = (): Workspace[] => workspaces().filter(({ manifest }) => !manifest.private);

/** Where the list of a package's exports is kept. */
export const snapshotPath = ({ name }: Workspace): string => join(root, 'test/api', `${name}.txt`);

/** The exports of a package as text: for each entry its name, the number of its exports, and a line for each. */
export function snapshotOf(workspace: Workspace): string {
  const sections = entriesOf(workspace).map(({ name, path }) => {
    const found = exportsOf(path);
    const lines = found.map((one) => `  ${one.name}: ${one.kinds.join(' and ')}`);
    return [`${name} (${found.length})`, ...lines].join('\n');
  });
  return `${sections.join('\n\n')}\n`;
}
