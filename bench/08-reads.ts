import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { inFolder, startBaton, startLoad, withRedis } from './harness/contender.ts';
import { round, Values } from './harness/measure.ts';

const stores = ['memory', 'sqlite', 'redis'] as const;
const flat = ['GetTask', 'ListTasks', 'ListTasks further on'] as const;
/** Tasks since a time are counted anew for every page: what that costs is shown apart. */
const counted = 'ListTasks since a time';

const growth = (work: string, store: string) => `slowest / fastest, ${work}, ${store}`;
const best = (work: string, store: string) => `slowest / fastest at their best, ${work}, ${store}`;

/** Single reads, one after another, with few and with many tasks in the store. */
export const benchmark: Benchmark = {
  number: 8,
  name: 'reads',
  work: 'GetTask and a ListTasks page of 50 with 100, 10,000 and 100,000 tasks stored, each store',
  goals: stores.flatMap((store) => flat.map((work) => ({ ratio: growth(work, store), atMost: 1.25 }))),
  // A hundred times the tasks: what looks at all of them takes dozens of times as long.
  growth: stores.flatMap((store) => flat.map((work) => ({ ratio: best(work, store), atMost: 5 }))),
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const sizes = short ? [100, 5_000] : [100, 10_000, 100_000];
  const requests = short ? 100 : 1_000;
  const unit = (work: string, size: number, store: string) => `µs, ${work}, ${size} tasks, ${store}`;

  async function readIn(choice: StoreChoice): Promise<void> {
    const { store } = choice;
    const [load, baton] = await Promise.all([startLoad(), startBaton({ ...choice, http: 'express' })]);
    const url = await baton.ask('url');
    let stored = 0;
    for (const size of sizes) {
      await baton.ask('fill', size - stored);
      stored = size;
      const pages = Math.min(100, size / 100);
      const { ids: get, pageToken, since } = await load.ask('walk', { url, pages });
      const works = {
        GetTask: { get },
        ListTasks: { list: {}, total: size },
        'ListTasks further on': { list: { pageToken }, total: size },
        [counted]: { list: { statusTimestampAfter: since } },
      };
      if (size === sizes[0])
        for (const ask of Object.values(works)) await load.ask('reads', { url, requests: requests * 3, ask });
      // Again and again in turn, so that what disturbs for a while disturbs all works alike.
      for (let n = 0; n < Math.max(3, runs); n++) {
        for (const [work, ask] of Object.entries(works)) {
          const { median, fastest } = await load.ask('reads', { url, requests, ask });
          values.add('baton', unit(work, size, store), median);
          values.add('baton', `${unit(work, size, store)}, fastest tenth`, fastest);
        }
      }
    }
    await Promise.all([load.stop(), baton.stop()]);
  }

  await readIn({ store: 'memory' });
  await inFolder((folder) => readIn({ store: 'sqlite', folder }));
  await withRedis(({ url }) => readIn({ store: 'redis', redis: url }));

  const ratios: Record<string, number> = {};
  for (const store of stores) {
    for (const work of [...flat, counted]) {
      const span = (values: readonly number[]) => round(Math.max(...values) / Math.min(...values));
      const units = sizes.map((size) => unit(work, size, store));
      ratios[growth(work, store)] = span(units.map((one) => values.median('baton', one)));
      ratios[best(work, store)] = span(
        units.map((one) => Math.min(...values.runs('baton', `${one}, fastest tenth`))),
      );
    }
  }
  return { results: values.results, ratios };
}
