import { describe, expect, it } from 'vitest';
import { countByKind } from '../../scripts/workload/verdict.ts';
import { runScript } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartEtcd } from '../support/etcd.ts';
import { canStartPostgres } from '../support/postgres.ts';
import { canStart } from '../support/redis.ts';

/** Kills of servers on a store that is a server itself, and is killed as well. */
const kills = repetitions(2, 5);
/** Few keep less of a machine busy, which the other tests need. */
const clients = ['--clients', String(repetitions(5, 10))];
const cancels = repetitions(30, 200);
const [hasRedis, hasPostgres, hasEtcd] = [await canStart(), await canStartPostgres(), await canStartEtcd()];
/** PostgreSQL and etcd are killed beside servers in long runs; short ones leave that to Redis, which starts fastest. */
const isLong = repetitions(0, 1) > 0;
/** Where cancels race besides SQLite. Starting these stores takes most of its time, so this is left to long runs. */
const raced = { redis: hasRedis, postgres: hasPostgres, etcd: hasEtcd };
const racedNow = Object.entries(raced).filter(([_, isThere]) => isThere && isLong);

/** Runs the crash harness; resolves to its exit code and to what its last line says. */
const chaos = (...args: string[]) => runScript('scripts/chaos.ts', ...clients, ...args);

describe('server processes on one SQLite file', () => {
  it('lose, repeat and double nothing when they are killed and stopped at random', {
    timeout: 300_000,
  }, async () => {
    const kills = repetitions(2, 12);
    const args = ['--store', 'sqlite-normal', '--kills', String(kills), '--seed', '1'];
    const { code, report, output } = await chaos(...args);
    const { tasks, ...counts } = report;
    expect(counts, output).toEqual({ ...countByKind([]), kills });
    expect(tasks).toBeGreaterThanOrEqual(5 * kills);
    expect(code).toBe(0);
  });

  it('nor beside processes that work only during calls and short runs', { timeout: 300_000 }, async () => {
    const kills = repetitions(4, 12);
    const args = ['--store', 'sqlite-normal', '--due', '--processes', '4', '--kills', String(kills)];
    const { code, report, output } = await chaos(...args);
    const { tasks, ...counts } = report;
    expect(counts, output).toEqual({ ...countByKind([]), kills });
    expect(tasks).toBeGreaterThanOrEqual(5 * kills);
    expect(code).toBe(0);
  });

  // The simulation does without each of them in every run of the tests; here many kills have to meet what it protects.
  const sabotages = [
    ['the version is not checked', 'cas', 30],
    // A process that starts finds stuck tasks: of many kills, the last one would hide them.
    ['stores send no notifications and servers do not sweep', 'notification', 3],
    ['the fence is not checked', 'fence', 30],
    ['commit ids are not kept', 'commit-id', 30],
  ] as const;

  it.each(sabotages.slice(0, repetitions(0, 4)))(
    'are caught when %s',
    { timeout: 300_000 },
    async (_what, protection, kills) => {
      const sabotaged = [
        '--store',
        'sqlite-normal',
        '--sabotage',
        protection,
        '--kills',
        String(kills),
        '--clients',
        '10',
      ];
      // Where the kills fall is chance, and so is what they break. One run may miss it, so there are up to five; a run that keeps
      // the protection has no violation at all (the test above).
      let caught = await chaos(...sabotaged);
      for (let again = 0; again < 4 && caught.code === 0; again++) caught = await chaos(...sabotaged);
      const { kills: _kills, tasks: _tasks, ...counts } = caught.report;
      expect(
        Object.values<number>(counts).some((count) => count > 0),
        caught.output,
      ).toBe(true);
      expect(caught.code).toBe(1);
    },
  );

  it('answer every client that cancels with the state in the store, however close the end was', {
    timeout: 300_000,
  }, async () => {
    const { code, report, output } = await chaos('--store', 'sqlite-normal', '--cancels', String(cancels));
    expect(report, output).toMatchObject({ cancels, lost: 0 });
    expect(report.canceled + report.completed).toBe(cancels);
    expect(Math.min(report.canceled, report.completed)).toBeGreaterThan(1);
    expect(code).toBe(0);
  });
});

describe.skipIf(!hasRedis)('server processes on one Redis', () => {
  it('lose, repeat and double nothing when they are killed, and when Redis is', {
    timeout: 300_000,
  }, async () => {
    const { code, report, output } = await chaos(
      ...`--store redis --kills ${kills} --seed 11 --lease 1000`.split(' '),
    );
    const { tasks, storeKills, ...counts } = report;
    expect(counts, output).toEqual({ ...countByKind([]), kills });
    expect(storeKills).toBeGreaterThanOrEqual(1);
    expect(tasks).toBeGreaterThanOrEqual(5 * kills);
    expect(code).toBe(0);
  });
});

describe.skipIf(!hasPostgres || !isLong)('server processes on one PostgreSQL', () => {
  it('lose, repeat and double nothing when they are killed, and when PostgreSQL is', {
    timeout: 300_000,
  }, async () => {
    const { code, report, output } = await chaos(
      '--store',
      'postgres',
      '--kills',
      String(kills),
      '--seed',
      '11',
    );
    const { tasks, storeKills, ...counts } = report;
    expect(counts, output).toEqual({ ...countByKind([]), kills });
    expect(storeKills).toBeGreaterThanOrEqual(1);
    expect(tasks).toBeGreaterThanOrEqual(2 * kills);
    expect(code).toBe(0);
  });
});

describe.skipIf(!hasEtcd || !isLong)('server processes on one etcd cluster', () => {
  it('lose, repeat and double nothing when they are killed, and when members are', {
    timeout: 300_000,
  }, async () => {
    const { code, report, output } = await chaos(
      '--store',
      'etcd',
      '--kills',
      String(kills),
      '--seed',
      '11',
      '--lease',
      '1000',
    );
    const { tasks, storeKills, ...counts } = report;
    expect(counts, output).toEqual({ ...countByKind([]), kills });
    expect(storeKills).toBeGreaterThanOrEqual(1);
    expect(tasks).toBeGreaterThanOrEqual(2 * kills);
    expect(code).toBe(0);
  });
});

it.each(racedNow)(
  'server processes on one %s answer every client that cancels with the state in the store',
  { timeout: 300_000 },
  async (store) => {
    const { code, report, output } = await chaos('--store', store, '--cancels', String(cancels));
    expect(report, output).toMatchObject({ cancels, lost: 0 });
    expect(report.canceled + report.completed).toBe(cancels);
    expect(code).toBe(0);
  },
);
