import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../packed/pack.ts';

/** Below the root of the repository. */
export const chartFolder = 'docs/operating/kubernetes';

/** The manifests that are kept, and the files of values that each is rendered with. */
export const rendered: Readonly<Record<string, readonly string[]>> = {
  'plain.yml': ['samples.yaml'],
  'everything.yml': ['samples.yaml', 'everything.yaml'],
};

/** A digest of everything that a manifest is made of. */
export function chartDigest(): string {
  const folder = join(root, chartFolder);
  const files = [
    ...['Chart.yaml', 'values.yaml', 'values.schema.json'].map((name) => join('baton', name)),
    ...readdirSync(join(folder, 'baton/templates'))
      .sort()
      .map((name) => join('baton/templates', name)),
    ...new Set(Object.values(rendered).flat()),
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
}
