import { expect, it } from 'vitest';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';

it('the sum of a tree of three agents is what was billed without what its logs mark as lost, under kills', {
  timeout: 1_800_000,
}, async () => {
  const kills = repetitions(4, 200);
  const { code, report, output } = await runScript('scripts/usage-kills.ts', '--kills', `${kills}`);
  expect(report, output).toMatchObject({ kills, faults: 0 });
  // Each tree has eight calls.
  expect(report.billed).toBeGreaterThanOrEqual(8 * report.trees);
  expect(code).toBe(0);
});
