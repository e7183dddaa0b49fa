import { describe, expect, it } from 'vitest';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartEtcd } from '../support/etcd.ts';

describe.skipIf(!(await canStartEtcd()))('An etcd cluster whose leader is killed at every commit', () => {
  it('keeps every acknowledged fact once and in order, on every member', { timeout: 300_000 }, async () => {
    const kills = repetitions(3, 12);
    const { code, report, output } = await runScript('scripts/leader-kills.ts', '--commits', String(kills));
    expect(code, output).toBe(0);
    expect(report).toMatchObject({ kills, lost: 0, disordered: 0, different: 0 });
    expect(report.acknowledged).toBeGreaterThanOrEqual(9 * kills);
  });
});
