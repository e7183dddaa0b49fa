import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A change that waits for a release. */
export interface Changeset {
  readonly file: string;
  /** `minor`, `patch` or `major`, by the name of the package. */
  readonly bumps: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** The changesets of a folder, by the names of their files. */
export function readChangesets(folder: string): Changeset[] {
  return globSync('*.md', { cwd: folder })
    .sort()
    .filter((file) => file !== 'README.md')
    .map((file) => {
      const [, head = '', summary = ''] = readFileSync(join(folder, file), 'utf8').split(/^---$/m);
      const bumps = Object.fromEntries(
        Array.from(head.matchAll(/^['"]?([@\w/-]+)['"]?: *(\w+)$/gm), ([, name, bump]) => [name!, bump!]),
      );
      return { file, bumps, summary: summary.trim() };
    });
}
