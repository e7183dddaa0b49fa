import { describe, expect, it } from 'vitest';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartPostgres } from '../support/postgres.ts';

/** Runs the kills; resolves to the exit code and to what its last line says. */
const fileKills = (...args: string[]) => runScript('scripts/file-kills.ts', ...args);

describe.each([
  ['sqlite', 'folder', true],
  ['sqlite', 's3', true],
  ['postgres', 'folder', await canStartPostgres()],
  ['postgres', 's3', await canStartPostgres()],
] as const)('files of tasks in %s and %s', (database, files, isThere) => {
  it.skipIf(!isThere)(
    'are whole, and of a task, when processes die at any write',
    { timeout: 600_000 },
    async () => {
      const kills = repetitions(4, 100);
      const { code, report, output } = await fileKills(
        ...['--database', database, '--files', files, '--kills', `${kills}`],
      );
      expect(report, output).toMatchObject({ kills, faults: 0 });
      expect(code).toBe(0);
    },
  );
});

it('files that are stored after the log names them are noticed', { timeout: 300_000 }, async () => {
  const { code, report, output } = await fileKills('--kills', '6', '--sabotage');
  expect(report.faults, output).toBeGreaterThan(0);
  expect(code).toBe(1);
});
