import { resolve } from 'node:path';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startLoad } from './harness/contender.ts';
import { installedSize } from './harness/installed-size.ts';
import { alternate, Values } from './harness/measure.ts';

const firstAnswer = 'ms from process start to first answer';
const installed = 'MB installed, server with SQLite';

const packages = {
  baton: ['@batonjs/server', '@batonjs/server-node', '@batonjs/store-sqlite'],
  'official-sdk': ['@a2a-js/sdk', 'express', 'kysely', 'better-sqlite3'],
};

/** The README's first program against the same one with the official SDK, started as they are published. */
export const benchmark: Benchmark = {
  number: 11,
  name: 'cold-start',
  work: 'cold start of the quickstart; installed size of server and SQLite',
  goals: [
    { ratio: 'baton / official-sdk (time)', atMost: 0.7 },
    { ratio: 'baton / official-sdk (installed size)', atMost: 1 },
  ],
  run,
};

async function run({ runs }: RunOptions): Promise<Measured> {
  const values = new Values();
  const load = await startLoad();
  const names = ['baton', 'official-sdk'] as const;
  const started = [...names, 'express'] as const;
  // The first start fills the caches of the file system.
  for (const name of started) await load.ask('coldStart', `${name}.mjs`);
  await alternate(started, runs * 3, async (name) => {
    values.add(name, firstAnswer, await load.ask('coldStart', `${name}.mjs`));
  });
  await load.stop();
  const root = resolve(import.meta.dirname, '..');
  for (const name of names) values.add(name, installed, installedSize(packages[name], root) / 1e6);
  return {
    results: values.results,
    ratios: {
      'baton / official-sdk (time)': values.ratio('baton', 'official-sdk', firstAnswer),
      // The part of the time that Express alone takes: a server on Express, as the official SDK is, cannot start faster.
      'express / official-sdk (time)': values.ratio('express', 'official-sdk', firstAnswer),
      'baton / official-sdk (installed size)': values.ratio('baton', 'official-sdk', installed),
    },
  };
}
