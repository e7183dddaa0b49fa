import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBaton, startFloor } from './harness/contender.ts';
import { alternate, ratiosOf, Values } from './harness/measure.ts';
import { cpuPerRequest, measureSends, perSecond, sampleOfBaton } from './harness/measure-sends.ts';

/** The first benchmark without Express. */
export const benchmark: Benchmark = {
  number: 2,
  name: 'blocking-node-http',
  work: 'blocking SendMessage, 4 events, memory store, node:http, 16 connections',
  goals: [
    { ratio: 'baton / node:http', atLeast: 0.6 },
    { ratio: 'baton CPU / node:http CPU', atMost: 3 },
  ],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const options = { connections: 16, requests: short ? 300 : 20_000, warmUp: short ? 50 : 20_000 };
  const values = new Values();
  const sample = await sampleOfBaton();
  await alternate(['baton', 'node:http'], runs, async (contender) => {
    const server = await {
      baton: () => startBaton({ store: 'memory', http: 'node:http' }),
      'node:http': () => startFloor('node-http', sample),
    }[contender]();
    await measureSends(contender, server, options, values);
  });
  return {
    results: values.results,
    ...ratiosOf({
      'baton / node:http': values.spread('baton', 'node:http', perSecond),
      'baton CPU / node:http CPU': values.spread('baton', 'node:http', cpuPerRequest),
    }),
  };
}
