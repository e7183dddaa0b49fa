import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareStreams, startBaton, startLoad } from './harness/contender.ts';
import { median, ratiosOf, Values } from './harness/measure.ts';
import type { Vitals } from './harness/vitals.ts';
import type { Worker } from './harness/worker.ts';
import type { Seen } from './load/streams-at-once.ts';

type Server = Pick<Worker<Vitals & { url(): string }>, 'ask' | 'stop'>;

const contenders = ['baton', 'bare-sse'] as const;
const moments = {
  submitted: 'the first event',
  working: "the agent's first event",
  ended: 'the end',
} as const;
type Moment = keyof typeof moments;
const unit = (moment: Moment) => `ms to ${moments[moment]}, median of all streams`;
const ratio = (moment: Moment) => `baton / bare-sse, time to ${moments[moment]}`;
const cpuPerStream = 'µs CPU per stream';
const cpuRatio = 'baton CPU / bare-sse CPU';

/** Many clients that send at the same moment. */
export const benchmark: Benchmark = {
  number: 18,
  name: 'streams-at-once',
  work: '2,000 streams opened at once, 4 events each, Express, memory store',
  goals: [{ ratio: ratio('submitted'), atMost: 2 }],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const streams = short ? 200 : 2_000;
  const rounds = short ? 1 : 5;
  const warmUp = short ? 0 : 5;

  for (let n = 0; n < runs; n++) {
    const [load, baton] = await Promise.all([startLoad(), startBaton({ store: 'memory', http: 'express' })]);
    const bare = await startBareStreams(await load.ask('sampleStream', { url: await baton.ask('url') }));
    const servers: Record<(typeof contenders)[number], Server> = { baton, 'bare-sse': bare };
    const open = async (contender: (typeof contenders)[number]) =>
      load.ask('streamsAtOnce', { url: await servers[contender].ask('url'), streams });
    // Warm code is compared: a server lives longer than the warm-up.
    for (let round = 0; round < warmUp; round++) for (const contender of contenders) await open(contender);
    const seen: Record<(typeof contenders)[number], Seen[]> = { baton: [], 'bare-sse': [] };
    const cpu = { baton: 0, 'bare-sse': 0 };
    // In turns, so that what else the machine does falls on both.
    for (let round = 0; round < rounds; round++)
      for (const contender of contenders) {
        const before = await servers[contender].ask('cpu');
        seen[contender].push(...(await open(contender)));
        cpu[contender] += (await servers[contender].ask('cpu')) - before;
      }
    for (const contender of contenders) {
      for (const moment of Object.keys(moments) as Moment[])
        values.add(contender, unit(moment), median(seen[contender].map((one) => one[moment])));
      values.add(contender, cpuPerStream, cpu[contender] / (streams * rounds));
    }
    await Promise.all([load.stop(), baton.stop(), bare.stop()]);
  }
  const compared = (what: string) => values.compare(['baton', what], ['bare-sse', what]);
  return {
    results: values.results,
    ...ratiosOf({
      [ratio('submitted')]: compared(unit('submitted')),
      [ratio('working')]: compared(unit('working')),
      [ratio('ended')]: compared(unit('ended')),
      [cpuRatio]: compared(cpuPerStream),
    }),
  };
}
