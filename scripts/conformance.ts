/**
 * `pnpm conformance`: writes `docs/reports/conformance.md` from the reports of the last `pnpm test` and `pnpm test:programs`. Exits with 1 when a row that has
 * to be covered is not. `--check` writes nothing, and fails when the page is not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checklist } from './conformance/checklist.ts';
import { page } from './conformance/page.ts';
import { problems } from './conformance/problems.ts';
import { evidenceOf, type VitestReport } from './conformance/report.ts';

const root = resolve(import.meta.dirname, '..');
const inReports = (name: string) => join(root, '.reports', `${name}.json`);
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    report: { type: 'string', multiple: true, default: ['vitest', 'programs'].map(inReports) },
  },
});
const path = join(root, 'docs/reports/conformance.md');
const rows = checklist();
const reports = values.report.map((file) => JSON.parse(readFileSync(file, 'utf8')) as VitestReport);
const evidence = evidenceOf({ testResults: reports.flatMap(({ testResults }) => testResults) }, root);
// A build machine skips nothing.
const found = problems(rows, evidence, { skipped: process.env.CI !== 'true' });
const written = page(rows, evidence);

if (!values.check) writeFileSync(path, written);
else if (written !== readFileSync(path, 'utf8')) found.push(staleness(readFileSync(path, 'utf8'), written));

for (const problem of found) console.error(problem);
const count = rows.areas.flatMap((area) => area.rows).length;
const covered = rows.areas.flatMap((area) => area.rows).filter(({ id }) => evidence.has(id)).length;
console.log(`Conformance: ${covered} of ${count} rows are covered, ${found.length} problems`);
process.exitCode = found.length > 0 ? 1 : 0;

function staleness(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const at = now.findIndex((line, index) => line !== old[index]);
  return [
    'docs/reports/conformance.md is stale: run `npx -y pnpm@12 conformance` after `… test` and `… test:programs`. The first difference:',
    `  it says ${old[at] ?? 'nothing'}`,
    `  it should say ${now[at] ?? 'nothing'}`,
  ].join('\n');
}
