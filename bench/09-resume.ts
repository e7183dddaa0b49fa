import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { inFolder, startBareSse, startBaton, startLoad } from './harness/contender.ts';
import { median, round, Values } from './harness/measure.ts';

const inProcess = (store: string) => `events/s in-process, ${store}`;
const overHttp = 'events/s over HTTP';

/**
 * A task that has ended is followed from the middle of its stream. The floor writes the very same events, one by one, from
 * memory.
 */
export const benchmark: Benchmark = {
  number: 9,
  name: 'resume',
  work: 'resume a stream of 5,000 events from its middle',
  goals: [
    { ratio: inProcess('memory'), atLeast: 100_000 },
    { ratio: inProcess('sqlite'), atLeast: 30_000 },
    { ratio: 'baton / bare-sse (over HTTP)', atLeast: 0.5 },
  ],
  run,
};

const contenders = ['baton', 'bare-sse'] as const;

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const chunks = short ? 500 : 5_000;
  const warmUp = short ? 2 : 20;

  async function inside(choice: StoreChoice): Promise<void> {
    const [load, baton] = await Promise.all([startLoad(), startBaton({ ...choice, http: 'express' })]);
    const where = await load.ask('record', { url: await baton.ask('url'), chunks });
    for (let n = 0; n < warmUp; n++) await baton.ask('resume', where);
    const { ms, events } = await baton.ask('resume', where);
    if (events !== chunks / 2 + 1) throw new Error(`${events} events`);
    values.add('baton', inProcess(choice.store), (events / ms) * 1_000);
    await Promise.all([load.stop(), baton.stop()]);
  }

  async function outside(): Promise<void> {
    const [load, baton, bare] = await Promise.all([
      startLoad(),
      startBaton({ store: 'memory', http: 'express' }),
      startBareSse(),
    ]);
    const urls = { baton: await baton.ask('url'), 'bare-sse': `${await bare.ask('url')}/replay` };
    const where = { ...(await load.ask('record', { url: urls.baton, chunks })), chunks };
    await bare.ask('learn', (await load.ask('resume', { ...where, url: urls.baton })).events);
    // In turns and many times: one takes a few milliseconds.
    const speeds: Record<(typeof contenders)[number], number[]> = { baton: [], 'bare-sse': [] };
    for (let n = 0; n < 2 * warmUp; n++) {
      for (const contender of contenders) {
        const { ms, events } = await load.ask('resume', { ...where, url: urls[contender] });
        if (n >= warmUp) speeds[contender].push((events.length / ms) * 1_000);
      }
    }
    for (const contender of contenders) values.add(contender, overHttp, median(speeds[contender]));
    await Promise.all([load.stop(), baton.stop(), bare.stop()]);
  }

  for (let n = 0; n < runs; n++) {
    await inside({ store: 'memory' });
    await inFolder((folder) => inside({ store: 'sqlite', folder }));
    await outside();
  }
  return {
    results: values.results,
    ratios: {
      [inProcess('memory')]: round(values.median('baton', inProcess('memory'))),
      [inProcess('sqlite')]: round(values.median('baton', inProcess('sqlite'))),
      'baton / bare-sse (over HTTP)': values.ratio('baton', 'bare-sse', overHttp),
    },
  };
}
