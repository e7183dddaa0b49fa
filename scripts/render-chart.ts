/**
 * `node scripts/render-chart.ts`: writes the manifests in `docs/operating/kubernetes/rendered` again, with the program `helm`. A
 * test compares the digest in their first line with the chart.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartDigest, chartFolder, rendered } from './kubernetes/chart-files.ts';
import { root } from './packed/pack.ts';

const folder = join(root, chartFolder);
for (const [name, values] of Object.entries(rendered)) {
  const files = values.flatMap((file) => ['--values', join(folder, file)]);
  const args = [
    'template',
    'agent',
    join(folder, 'baton'),
    '--namespace',
    'agents',
    '--kube-version',
    '1.29.0',
    ...files,
  ];
  const text = execFileSync('helm', args, { encoding: 'utf8' }).replaceAll(/[ \t]+$/gm, '');
  const head = `# Rendered by scripts/render-chart.ts from the chart ${chartDigest()}. Change the chart, not this file.\n`;
  writeFileSync(join(folder, 'rendered', name), head + text.replaceAll(/\n{2,}/g, '\n'));
}
