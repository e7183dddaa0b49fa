/**
 * `pnpm works-with`: runs the tests that the page "Works with" names, and says for each row how many passed. Fails if one
 * failed or a file ran none. `--write` writes the numbers into the page. The files in folders called `large` run with
 * `pnpm test:recipes`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { judge, rowsOf, written } from './works-with/rows.ts';

const root = resolve(import.meta.dirname, '..');
const page = join(root, 'docs/start/works-with.md');
const rows = rowsOf(readFileSync(page, 'utf8'));
const report = join(root, '.reports/works-with.json');
const files = [...new Set(rows.flatMap(({ tests }) => tests))];
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
const { status } = spawnSync(join(root, 'node_modules/.bin/vitest'), ['run', ...reporters, ...files], {
  cwd: root,
  stdio: 'inherit',
});
const { passed, problems } = judge(rows, JSON.parse(readFileSync(report, 'utf8')), root);
for (const { software, count } of passed)
  console.log(`${String(count).padStart(5)} tests passed: ${software}`);
for (const problem of problems) console.error(problem);
if (process.argv.includes('--write') && problems.length === 0)
  writeFileSync(page, written(readFileSync(page, 'utf8'), passed, new Date().toISOString().slice(0, 10)));
process.exitCode = problems.length > 0 || status !== 0 ? 1 : 0;
