import { describe, expect, it } from 'vitest';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartEtcd } from '../support/etcd.ts';
import { canStartPostgres } from '../support/postgres.ts';
import { canStart } from '../support/redis.ts';

const hasPostgres = await canStartPostgres();
const isLong = repetitions(0, 1) === 1;
const otherTasks = [
  ...(isLong && (await canStart()) ? ['redis'] : []),
  ...(isLong && (await canStartEtcd()) ? ['etcd'] : []),
];

/** Runs the ledger; resolves to its exit code and to what its last line says. */
const ledger = (...args: string[]) => runScript('scripts/ledger.ts', ...args);

describe.each([
  ['a SQLite file', 'sqlite', true],
  // What a database of its own adds is tested with the package in every run.
  ['PostgreSQL', 'postgres', hasPostgres && repetitions(0, 1) > 0],
] as const)('money in %s', (_where, database, isThere) => {
  it.skipIf(!isThere)(
    'is right to the cent when processes and connections are killed, stopped and set',
    {
      timeout: 300_000,
    },
    async () => {
      const kills = repetitions(4, 100);
      const { code, report, output } = await ledger('--database', database, '--kills', String(kills));
      expect(report, output).toMatchObject({ unfinished: 0, faults: 0, crashes: 0 });
      const { processes, stops, connections, databases } = report.kills;
      expect(processes + stops + connections + databases).toBe(kills);
      expect(report.transfers).toBeGreaterThanOrEqual(2 * (kills - 1));
      // Where a few kills fall is chance: only many are sure to meet a turn, and a transaction, in the middle.
      const sure = repetitions(0, 1);
      expect(report.reruns).toBeGreaterThanOrEqual(sure);
      expect(report.rolledBack).toBeGreaterThanOrEqual(sure);
      expect(code).toBe(0);
    },
  );

  // Neither of both stores can have the money: what a rerun needs of its turn is in another system than its effect.
  it.each(isThere ? otherTasks : [])('is right with the tasks in %s', { timeout: 300_000 }, async (tasks) => {
    const options = ['--database', database, '--tasks', tasks, '--kills', '40'];
    const { code, report, output } = await ledger(...options);
    expect(report, output).toMatchObject({ unfinished: 0, faults: 0, crashes: 0 });
    expect(code).toBe(0);
  });

  // Many stops, until one breaks something: tests of the package say what each of them protects.
  it.each(['fence', 'record'].filter(() => isThere && repetitions(0, 1)))(
    'is wrong without the %s',
    { timeout: 300_000 },
    async (protection) => {
      const sabotaged = ['--database', database, '--sabotage', protection, '--kills', '60'];
      // Where the kills fall is chance, and so is what they break. A run that keeps the protection has no fault at all.
      let caught = await ledger(...sabotaged);
      for (let again = 0; again < 4 && caught.code === 0; again++) caught = await ledger(...sabotaged);
      expect(caught.report.faults, caught.output).toBeGreaterThan(0);
      expect(caught.code).toBe(1);
    },
  );
});
