import type { BarePostgres } from './contenders/bare/bare-postgres.ts';
import type { CommitTexts } from './contenders/sample-commits.ts';
import type { Benchmark, Contender, Measured, RunOptions } from './harness/benchmark.ts';
import {
  migrateOfficialSdk,
  type Postgres,
  startBaton,
  startBatonStore,
  startOfficialSdk,
  withPostgres,
} from './harness/contender.ts';
import { ratiosOf, Values } from './harness/measure.ts';
import { afterFirst, cpuWithDatabase, measureSends, perSecond, sum } from './harness/measure-sends.ts';
import { Worker } from './harness/worker.ts';

/**
 * The first benchmark on PostgreSQL with `fsync` and `synchronous_commit`. The floor is not served: it replays, with
 * nothing around them, transactions that hold as many commits each as those of Baton, over one connection. CPU time is
 * that of the process and of PostgreSQL together: other work on the machine disturbs it less than it does rates.
 */
export const benchmark: Benchmark = {
  number: 13,
  name: 'blocking-postgres',
  work: 'blocking SendMessage, 4 events, PostgreSQL, Express, 64 connections',
  goals: [
    { ratio: 'baton / official-sdk', atLeast: 3 },
    { ratio: 'official-sdk CPU / baton CPU', atLeast: 3 },
    { ratio: 'commits served / bare-postgres', atLeast: 0.6 },
    { ratio: 'commits of the store / bare-postgres', atLeast: 0.6 },
  ],
  run,
};

const connections = 64;
const commitsPerSend = 4;
const ofStore = 'commits/s of the store alone';
const perGroup = 'commits per transaction';
/** Of the process and of PostgreSQL. */
const cpuOf = (what: string) => `µs CPU per commit, ${what}`;
const replayed = (what: string) => `commits/s, groups of ${what}`;

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const groups: Record<string, readonly number[]> = {};
  let commits: CommitTexts = [];
  const requests = short ? 300 : 5_000;
  const warmUp = short ? 64 : 2_000;

  function addCpu(contender: Contender, what: string, own: number, postgres: number, all: number): void {
    values.add(contender, cpuOf(what), (own + postgres) / all);
    values.add(contender, `µs CPU of PostgreSQL per commit, ${what}`, postgres / all);
  }

  async function baton({ url, cpu }: Postgres): Promise<void> {
    const server = await startBaton({ store: 'postgres', postgres: url, http: 'express' });
    await measureSends(
      'baton',
      server,
      { connections, requests, warmUp, databaseCpu: cpu },
      values,
      async () => {
        groups['what was served'] = afterFirst(await server.ask('groups'), warmUp * commitsPerSend);
        values.add('baton', perGroup, sum(groups['what was served']) / groups['what was served'].length);
      },
    );
  }

  async function batonStore({ url, cpu }: Postgres): Promise<void> {
    const store = await startBatonStore({ store: 'postgres', postgres: url });
    commits = await store.ask('texts');
    await store.ask('sends', { requests: warmUp, tasks: connections });
    const before = cpu();
    const { ms, cpu: own, groups: sizes } = await store.ask('sends', { requests, tasks: connections });
    groups['the store alone'] = sizes;
    values.add('baton', ofStore, (sum(sizes) / ms) * 1_000);
    addCpu('baton', 'the store alone', own, cpu() - before, sum(sizes));
    await store.stop();
  }

  async function officialSdk({ url, cpu }: Postgres): Promise<void> {
    const sends = short ? { requests: 100, warmUp: 64 } : { requests: 1_000, warmUp: 500 };
    const options = { connections, ...sends, databaseCpu: cpu };
    migrateOfficialSdk(url);
    await measureSends(
      'official-sdk',
      await startOfficialSdk({ store: 'postgres', postgres: url }),
      options,
      values,
    );
  }

  const bare =
    (what: string) =>
    async ({ url, cpu }: Postgres) => {
      const floor = await Worker.start<BarePostgres>('contenders/bare/bare-postgres.ts', {
        postgres: url,
        commits,
      });
      const before = cpu();
      const { ms, cpu: own } = await floor.ask('replay', { groups: groups[what]!, tasks: connections });
      values.add('bare-postgres', replayed(what), (sum(groups[what]!) / ms) * 1_000);
      addCpu('bare-postgres', what, own, cpu() - before, sum(groups[what]!));
      await floor.stop();
    };

  for (let n = 0; n < runs; n++) {
    // Always in this order: the floor repeats the groups that were recorded just before.
    for (const contend of [baton, officialSdk, batonStore]) await withPostgres(contend);
    for (const what of Object.keys(groups)) await withPostgres(bare(what));
  }
  const served = ['baton', perSecond] as const;
  const all = ['baton', cpuWithDatabase] as const;
  return {
    results: values.results,
    ...ratiosOf({
      'baton / official-sdk': values.compare(served, ['official-sdk', perSecond]),
      'official-sdk CPU / baton CPU': values.compare(['official-sdk', cpuWithDatabase], all),
      'commits served / bare-postgres': values.compare(
        served,
        ['bare-postgres', replayed('what was served')],
        commitsPerSend,
      ),
      'commits of the store / bare-postgres': values.compare(
        ['baton', ofStore],
        ['bare-postgres', replayed('the store alone')],
      ),
      'bare-postgres CPU / baton CPU, what was served': values.compare(
        ['bare-postgres', cpuOf('what was served')],
        all,
        commitsPerSend,
      ),
      'bare-postgres CPU / baton CPU, the store alone': values.compare(
        ['bare-postgres', cpuOf('the store alone')],
        ['baton', cpuOf('the store alone')],
      ),
    }),
  };
}
