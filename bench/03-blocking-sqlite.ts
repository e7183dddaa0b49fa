import { join } from 'node:path';
import type { BareSqlite } from './contenders/bare/bare-sqlite.ts';
import type { CommitTexts } from './contenders/sample-commits.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import {
  inFolder,
  migrateOfficialSdk,
  startBaton,
  startBatonStore,
  startOfficialSdk,
} from './harness/contender.ts';
import { round, Values } from './harness/measure.ts';
import { afterFirst, cpuPerRequest, measureSends, perSecond, sum } from './harness/measure-sends.ts';
import { Worker } from './harness/worker.ts';

/**
 * The first benchmark on SQLite with `synchronous=FULL`. The floor is not served: it replays, with nothing around them,
 * transactions that hold as many commits each as those of Baton, once with the index that a list of tasks needs and once
 * without. It is compared with what was served, and with the store alone, given the same commits.
 */
export const benchmark: Benchmark = {
  number: 3,
  name: 'blocking-sqlite',
  work: 'blocking SendMessage, 4 events, SQLite with synchronous=FULL, Express, 64 connections',
  goals: [
    { ratio: 'baton / official-sdk', atLeast: 4 },
    { ratio: 'commits served / bare-sqlite', atLeast: 0.6 },
    { ratio: 'commits of the store / bare-sqlite', atLeast: 0.6 },
  ],
  run,
};

const connections = 64;
const commitsPerSend = 4;
const ofStore = 'commits/s of the store alone';
const perGroup = 'commits per transaction';
const replayed = (what: string, listable: boolean) =>
  `commits/s, groups of ${what}${listable ? ', listable' : ''}`;

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const groups: Record<string, readonly number[]> = {};
  let commits: CommitTexts = [];

  async function baton(folder: string): Promise<void> {
    const options = { connections, requests: short ? 300 : 12_000, warmUp: short ? 64 : 12_000 };
    const server = await startBaton({ store: 'sqlite', folder, http: 'express' });
    await measureSends('baton', server, options, values, async () => {
      groups['what was served'] = afterFirst(await server.ask('groups'), options.warmUp * commitsPerSend);
      values.add('baton', perGroup, sum(groups['what was served']) / groups['what was served'].length);
    });
  }

  async function batonStore(folder: string): Promise<void> {
    const store = await startBatonStore({ store: 'sqlite', folder });
    commits = await store.ask('texts');
    await store.ask('sends', { requests: short ? 64 : 12_000, tasks: connections });
    const { ms, groups: sizes } = await store.ask('sends', {
      requests: short ? 300 : 12_000,
      tasks: connections,
    });
    groups['the store alone'] = sizes;
    values.add('baton', ofStore, (sum(sizes) / ms) * 1_000);
    await store.stop();
  }

  async function officialSdk(folder: string): Promise<void> {
    const options = { connections, requests: short ? 100 : 4_000, warmUp: short ? 64 : 2_000 };
    migrateOfficialSdk(`sqlite:${join(folder, 'tasks.db')}`);
    await measureSends('official-sdk', await startOfficialSdk({ store: 'sqlite', folder }), options, values);
  }

  const bare = (what: string, listable: boolean) => async (folder: string) => {
    const floor = await Worker.start<BareSqlite>('contenders/bare/bare-sqlite.ts', {
      folder,
      listable,
      commits,
    });
    const ms = await floor.ask('replay', { groups: groups[what]!, tasks: connections });
    values.add('bare-sqlite', replayed(what, listable), (sum(groups[what]!) / ms) * 1_000);
    await floor.stop();
  };

  for (let n = 0; n < runs; n++) {
    // Always in this order: the floor repeats what was recorded just before.
    for (const contend of [baton, officialSdk, batonStore]) await inFolder(contend);
    for (const what of Object.keys(groups)) {
      await inFolder(bare(what, false));
      await inFolder(bare(what, true));
    }
  }
  const served = values.median('baton', perSecond) * commitsPerSend;
  const alone = values.median('baton', ofStore);
  const over = (rate: number, what: string, listable: boolean) =>
    round(rate / values.median('bare-sqlite', replayed(what, listable)));
  return {
    results: values.results,
    ratios: {
      'baton / official-sdk': values.ratio('baton', 'official-sdk', perSecond),
      'commits served / bare-sqlite': over(served, 'what was served', false),
      'commits of the store / bare-sqlite': over(alone, 'the store alone', false),
      'commits served / bare-sqlite, listable': over(served, 'what was served', true),
      'commits of the store / bare-sqlite, listable': over(alone, 'the store alone', true),
      'official-sdk CPU / baton CPU': values.ratio('official-sdk', 'baton', cpuPerRequest),
    },
  };
}
