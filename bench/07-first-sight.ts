import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareSse, startBaton, startLoad } from './harness/contender.ts';
import { median, ratiosOf, Values } from './harness/measure.ts';

const p50 = 'µs, median of a run';
const p99 = 'µs, 99th percentile of a run';

/** How long an update takes from the agent's `yield` to the client, on the clock that both processes share. */
export const benchmark: Benchmark = {
  number: 7,
  name: 'first-sight',
  work: "time from `yield` to the client's event, one follower, Express, memory store",
  goals: [{ ratio: 'baton / bare-sse (p50)', atMost: 1.5 }],
  run,
};

const contenders = ['baton', 'bare-sse'] as const;

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const rounds = short ? 1 : 5;
  const count = short ? 50 : 300;
  const warmUp = short ? 50 : 4_000;

  for (let n = 0; n < runs; n++) {
    const [load, baton, bare] = await Promise.all([
      startLoad(),
      startBaton({ store: 'memory', http: 'express' }),
      startBareSse(),
    ]);
    const urls = { baton: await baton.ask('url'), 'bare-sse': await bare.ask('url') };
    const delaysOf = async (contender: 'baton' | 'bare-sse', count: number, everyMs: number) => {
      const url = urls[contender];
      const isBaton = contender === 'baton';
      const taskId = isBaton ? await load.ask('begin', { url, text: `ticks ${count} ${everyMs}` }) : '';
      await load.ask('follow', { url, taskId, followers: 1, count });
      const produced = isBaton ? baton.ask('start') : bare.ask('produce', { count, everyMs });
      const [delays] = await Promise.all([load.ask('followed'), produced]);
      return delays;
    };
    // Warm code is compared: a server lives longer than the warm-up.
    for (const contender of contenders) await delaysOf(contender, warmUp, 1);
    const delays: Record<(typeof contenders)[number], number[]> = { baton: [], 'bare-sse': [] };
    // In turns, so that what else the machine does falls on both.
    for (let round = 0; round < rounds; round++)
      for (const contender of contenders) delays[contender].push(...(await delaysOf(contender, count, 4)));
    for (const contender of contenders) {
      const sorted = delays[contender].sort((a, b) => a - b);
      values.add(contender, p50, median(sorted) / 1_000);
      values.add(contender, p99, sorted[Math.floor(sorted.length * 0.99)]! / 1_000);
    }
    await Promise.all([load.stop(), baton.stop(), bare.stop()]);
  }
  return {
    results: values.results,
    ...ratiosOf({
      'baton / bare-sse (p50)': values.spread('baton', 'bare-sse', p50),
      'baton / bare-sse (p99)': values.spread('baton', 'bare-sse', p99),
    }),
  };
}
