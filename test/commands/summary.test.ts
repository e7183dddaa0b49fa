import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { node, run } from '../kit/processes.ts';
import { root } from '../repository/source-files.ts';

const passes = `import { it } from 'vitest';\nit('works', () => {});\n`;

/** Runs these test files; resolves to the path of their report, and to the exit code. */
async function reportOf(files: Record<string, string>) {
  const folder = mkdtempSync(join(root, 'node_modules', '.summary-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'vitest.config.js'), 'export default { test: { exclude: [] } }');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), text);
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reporter = ['--reporter=json', `--outputFile.json=${report}`];
  await using tests = run(node, [vitest, 'run', '--root', folder, ...reporter]);
  return { report, exitCode: String(await tests.ended) };
}

/** What the build machine says of reports, and its exit code. */
async function sumUp(...reports: readonly { report: string; exitCode: string }[]) {
  const args = reports.flatMap(({ report, exitCode }) => [report, exitCode]);
  await using summary = run(node, ['.ci/summary.mjs', ...args]);
  const code = await summary.ended;
  return { code, output: summary.output, last: summary.output.trimEnd().split('\n').at(-1) };
}

it('the last line counts the tests that failed, and the files that failed without one', async () => {
  const tests = await reportOf({
    passes,
    fails: `${passes}it('fails', () => { throw new Error('Wrong'); });`,
    leaks: `import { afterAll } from 'vitest';\nafterAll(() => { throw new Error('Left'); });\n${passes}`,
    'cannot-load': 'import "./missing.js";',
  });
  const { code, output, last } = await sumUp(tests);
  expect([code, last]).toEqual([1, '3 passed, 3 failed']);
  for (const reason of [
    /fails\.test\.js fails\n .*Wrong/,
    /leaks\.test\.js\n .*Left/,
    /cannot-load\.test\.js\n/,
  ])
    expect(output).toMatch(reason);
});

it('the last line says that the run failed, whatever its tests say', async () => {
  const tests = await reportOf({ passes });
  expect(await sumUp(tests)).toMatchObject({ code: 0, last: '1 passed, 0 failed' });
  const killed = { ...tests, exitCode: '137' };
  expect(await sumUp(killed)).toMatchObject({ code: 1, last: '1 passed, 1 failed' });
  const none = { report: '/nowhere/report.json', exitCode: '0' };
  expect(await sumUp(none)).toMatchObject({ code: 1, last: '0 passed, 1 failed' });
  expect(await sumUp(tests, tests)).toMatchObject({ code: 0, last: '2 passed, 0 failed' });
  expect(await sumUp(tests, none)).toMatchObject({ code: 1, last: '1 passed, 1 failed' });
  expect(await sumUp(killed, tests)).toMatchObject({ code: 1, last: '2 passed, 1 failed' });
});
