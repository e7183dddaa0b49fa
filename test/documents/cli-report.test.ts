import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { notShipped, registry } from '../../scripts/cli-report/registry.ts';
import { reportOf } from '../../scripts/cli-report/report.ts';
import { readText, root } from '../repository/source-files.ts';

const page = readText('packages/cli/compliance-report.yaml');
const tests = globSync('packages/cli/test/*.test.ts', { cwd: root }).map(readText).join('\n');

it('every requirement of the a2a-cli registry stands in the title of a test, or in the list of what is not shipped [R-CLI-100]', () => {
  expect(registry.map(({ tier }) => tier).filter((tier) => tier === 1)).toHaveLength(39);
  expect(registry).toHaveLength(66);
  for (const { id } of registry) expect([id, tests.includes(id)]).toEqual([id, !(id in notShipped)]);
});

it('the report that is kept has every requirement with its tests, and claims tier 2 [R-CLI-100]', () => {
  for (const { id } of registry) {
    const entry = page.slice(page.indexOf(`  ${id}:`)).split('\n    evidence:')[0]!;
    expect([id, entry]).toEqual([
      id,
      expect.stringContaining(id in notShipped ? 'status: not_measured' : 'status: pass'),
    ]);
    if (id in notShipped) expect(entry).toContain(notShipped[id]);
  }
  expect(page).toContain('tier_claimed: 2');
  const shown = page.match(/(?<=- "packages\/cli\/test\/)[\w-]+\.test\.ts/g) ?? [];
  for (const file of new Set(shown)) expect(readText(`packages/cli/test/${file}`)).toContain('A2ACLI_');
});

it('a requirement whose test fails does not pass, and neither does one without a test [R-CLI-101]', () => {
  const title = 'sends [A2ACLI_SEND_001]';
  const run = (status: string) => ({
    testResults: [{ name: 'a.test.ts', assertionResults: [{ ancestorTitles: [], title, status }] }],
  });
  const statusOf = (status: string, id: string) =>
    new RegExp(`  ${id}:\\n(?:    .*\\n)*?    status: (.*)`).exec(
      reportOf(run(status), '1', '2026-01-01').yaml,
    )?.[1];
  expect(statusOf('passed', 'A2ACLI_SEND_001')).toBe('pass');
  expect(statusOf('failed', 'A2ACLI_SEND_001')).toBe('fail');
  expect(statusOf('passed', 'A2ACLI_SEND_002')).toBe('not_measured');
});
