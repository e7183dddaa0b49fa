import { expect, it } from 'vitest';
import { countByKind } from '../../scripts/workload/verdict.ts';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartEtcd } from '../support/etcd.ts';
import { canStartPostgres } from '../support/postgres.ts';
import { canStart } from '../support/redis.ts';

const kills = repetitions(3, 12);
const isLong = repetitions(0, 1) > 0;

const stores = [
  ['sqlite', true],
  ['redis', await canStart()],
  // Starting these takes most of the time.
  ['postgres', isLong && (await canStartPostgres())],
  ['etcd', isLong && (await canStartEtcd())],
] as const;

it.each(stores.filter(([_, isHere]) => isHere))(
  'a fleet on %s goes to the next release, back, and on, and loses nothing',
  {
    timeout: 600_000,
  },
  async (store) => {
    const args = ['--store', store, '--kills', String(kills), '--clients', '5'];
    const { code, report: all, output } = await runScript('scripts/upgrade-rehearse.ts', ...args);
    const { back, refusals, ...report } = all;
    expect(report, output).toMatchObject({ ...countByKind([]), store, kills });
    expect(code).toBe(0);
    // Each release has written something that the one before does not know.
    const some = expect.any(Number);
    expect(report).toMatchObject({ facts: { 1: some, 2: some }, snapshots: { 1: some, 2: some } });
    expect(report.factsWithNewMember).toBeGreaterThan(0);
    expect(back).toMatch(/^It reads \d{2,} tasks$/);
    expect(refusals).toEqual([
      expect.stringContaining('its layout has number 1000, and this release reads 900 only. Use a'),
      expect.stringContaining('its layout has number 1000, and this release reads 900 to 901. Use a'),
    ]);
  },
);

it.skipIf(!isLong || !(await canStartPostgres()))(
  'a project on SQLite follows the upgrade page to the next release, to PostgreSQL, and back, and loses nothing',
  { timeout: 600_000 },
  async () => {
    const args = ['--page', '--kills', '10', '--clients', '5'];
    const { code, report, output } = await runScript('scripts/upgrade-rehearse.ts', ...args);
    expect(code, output).toBe(0);
    expect(report).toMatchObject({ ...countByKind([]), complaints: 0, copies: [{}, {}] });
    expect(report.sent).toBeGreaterThan(50);
  },
);
