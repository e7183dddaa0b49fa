import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareSse, startBaton, startLoad } from './harness/contender.ts';
import { alternate, median, Values } from './harness/measure.ts';

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

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const count = short ? 50 : 1_000;
  const everyMs = 4;

  await alternate(['baton', 'bare-sse'], runs, async (contender) => {
    const load = await startLoad();
    const baton = contender === 'baton' ? await startBaton({ store: 'memory', http: 'express' }) : undefined;
    const bare = baton ? undefined : await startBareSse();
    const url = await (baton ?? bare!).ask('url');
    let delays: number[] = [];
    // The first time is to get warm.
    for (let n = 0; n < 2; n++) {
      const text = `ticks ${count} ${everyMs}`;
      const taskId = baton ? await load.ask('begin', { url, text }) : '';
      await load.ask('follow', { url, taskId, followers: 1, count });
      const produced = baton ? baton.ask('start') : bare!.ask('produce', { count, everyMs });
      delays = (await Promise.all([load.ask('followed'), produced]))[0];
    }
    const sorted = delays.sort((a, b) => a - b);
    values.add(contender, p50, median(sorted) / 1_000);
    values.add(contender, p99, sorted[Math.floor(sorted.length * 0.99)]! / 1_000);
    await Promise.all([load.stop(), baton?.stop(), bare?.stop()]);
  });
  return {
    results: values.results,
    ratios: {
      'baton / bare-sse (p50)': values.ratio('baton', 'bare-sse', p50),
      'baton / bare-sse (p99)': values.ratio('baton', 'bare-sse', p99),
    },
  };
}
