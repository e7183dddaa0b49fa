/**
 * `pnpm cli-report` runs the tests of the command line, which talk to live agents, and writes `compliance-report.yaml` of
 * `packages/cli` from them: one entry per requirement of the a2a-cli specification, with the tests that show it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { reportOf, type TestRun } from './cli-report/report.ts';

const file = `.reports/cli-${process.pid}.json`;
mkdirSync('.reports', { recursive: true });
try {
  const args = ['run', 'packages/cli/test', '--reporter=json', `--outputFile=${file}`];
  execFileSync('node_modules/.bin/vitest', args, { stdio: ['ignore', 'ignore', 'inherit'] });
} catch {
  // What failed stands in the report.
}
const run = JSON.parse(readFileSync(file, 'utf8')) as TestRun;
rmSync(file);
const manifest = JSON.parse(readFileSync('packages/cli/package.json', 'utf8')) as { version: string };
const report = reportOf(run, manifest.version, new Date().toISOString().slice(0, 10));
writeFileSync('packages/cli/compliance-report.yaml', report.yaml);
console.log(report.summary);
process.exit(report.failed > 0 ? 1 : 0);
