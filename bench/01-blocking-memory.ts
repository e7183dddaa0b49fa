import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBaton, startFloor, startOfficialSdk } from './harness/contender.ts';
import { alternate, ratiosOf, Values } from './harness/measure.ts';
import { cpuPerRequest, measureSends, perSecond, sampleOfBaton } from './harness/measure-sends.ts';

/** Blocking sends to a task of four events (submitted, working, an artifact, completed), kept in memory, over Express. */
export const benchmark: Benchmark = {
  number: 1,
  name: 'blocking-memory',
  work: 'blocking SendMessage, 4 events, memory store, Express, 16 connections',
  goals: [
    { ratio: 'baton / express', atLeast: 0.7 },
    { ratio: 'baton / official-sdk', atLeast: 3 },
  ],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const options = { connections: 16, requests: short ? 300 : 20_000, warmUp: short ? 50 : 20_000 };
  const values = new Values();
  const sample = await sampleOfBaton();
  await alternate(['baton', 'official-sdk', 'express'], runs, async (contender) => {
    const server = await {
      baton: () => startBaton({ store: 'memory', http: 'express' }),
      'official-sdk': () => startOfficialSdk({ store: 'memory' }),
      express: () => startFloor('express', sample),
    }[contender]();
    await measureSends(contender, server, options, values);
  });
  return {
    results: values.results,
    ...ratiosOf({
      'baton / express': values.spread('baton', 'express', perSecond),
      'baton / official-sdk': values.spread('baton', 'official-sdk', perSecond),
      'express CPU / baton CPU': values.spread('express', 'baton', cpuPerRequest),
      'official-sdk CPU / baton CPU': values.spread('official-sdk', 'baton', cpuPerRequest),
    }),
  };
}
