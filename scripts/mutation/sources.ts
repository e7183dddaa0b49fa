import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/**
 * The source file of each entry of each package below this root, by the name that imports it. Stryker mutates a copy of
 * the repository whose `node_modules` lead back to the original: imports by name have to meet the copy, or no test would
 * see a mutation.
 */
export function sourcesByName(root: string): Map<string, string> {
  const sources = new Map<string, string>();
  for (const folder of readdirSync(join(root, 'packages'))) {
    const path = join(root, 'packages', folder);
    const { name, exports = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
    for (const [entry, target] of Object.entries(exports)) {
      const source = typeof target === 'string' ? undefined : target['@batonjs/source'];
      if (source !== undefined) sources.set(`${name}${entry.slice(1)}`, join(path, source));
    }
  }
  return sources;
}
