import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { losses } from '../../src/index.ts';

it('the page about 0.3 lists the losses of a translation, and nothing else [R-V03-13]', () => {
  const page = readFileSync(new URL('../../../../docs/start/a2a-0.3.md', import.meta.url), 'utf8');
  const directions = { up: '0.3 → 1.0', down: '1.0 → 0.3', both: 'both' };
  const rows = Object.entries(losses).map(([code, row]) => {
    const mark = 'harmless' in row ? ' *' : '';
    return `| \`${code}\`${mark} | ${directions[row.direction]} | ${row.what} |`;
  });
  // The formatter pads the columns.
  const lines = page.split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim());
  expect(lines.filter((line) => /^\| `[\w-]+`( \*)? \| (0\.3|1\.0|both)/.test(line))).toEqual(rows);
});
