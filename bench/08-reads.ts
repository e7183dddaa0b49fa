import type { Baton } from './contenders/baton/baton.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBaton, startLoad } from './harness/contender.ts';
import { round, Values } from './harness/measure.ts';
import { places } from './harness/places.ts';
import type { Worker } from './harness/worker.ts';
import type { Read } from './load/reads.ts';

const stores = ['memory', 'sqlite', 'redis'] as const;
type Store = (typeof stores)[number];
const flat = ['GetTask', 'ListTasks', 'ListTasks further on'] as const;
/** Tasks since a time are counted again for every page: what that costs is shown apart. */
const counted = 'ListTasks since a time';

const growth = (work: string, store: string) => `slowest / fastest, ${work}, ${store}`;

/** Single reads, one after another, in turn from servers that have few and many tasks in their stores. */
export const benchmark: Benchmark = {
  number: 8,
  name: 'reads',
  work: 'GetTask and a ListTasks page of 50 with 100, 10,000 and 100,000 tasks stored, each store',
  goals: stores.flatMap((store) => flat.map((work) => ({ ratio: growth(work, store), atMost: 1.25 }))),
  // A hundred times the tasks: a read of all of them takes dozens of times as long.
  growth: stores.flatMap((store) => flat.map((work) => ({ ratio: growth(work, store), atMost: 5 }))),
  run,
};

/** A server with so many tasks, and what it is asked. */
interface Stocked {
  readonly size: number;
  readonly url: string;
  readonly works: Readonly<Record<string, Read['ask']>>;
}

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const sizes = short ? [100, 5_000] : [100, 10_000, 100_000];
  const requests = short ? 100 : 1_000;
  const warmUp = 3 * requests;
  const unit = (work: string, size: number, store: string) => `µs, ${work}, ${size} tasks, ${store}`;
  const load = await startLoad();

  async function stock(size: number, baton: Worker<Baton>): Promise<Stocked> {
    const url = await baton.ask('url');
    await baton.ask('fill', size);
    const { ids: get, pageToken, since } = await load.ask('walk', { url, pages: Math.min(100, size / 100) });
    const works: Stocked['works'] = {
      GetTask: { get },
      ListTasks: { list: {}, total: size },
      'ListTasks further on': { list: { pageToken }, total: size },
      [counted]: { list: { statusTimestampAfter: since } },
    };
    for (const ask of Object.values(works))
      await load.ask('reads', { from: [{ url, ask }], requests: warmUp });
    return { size, url, works };
  }

  async function readIn(store: string, stocked: readonly Stocked[]): Promise<void> {
    for (let n = 0; n < Math.max(3, runs); n++) {
      for (const work of [...flat, counted]) {
        // In turn, so that what disturbs for a while disturbs all alike.
        const from = stocked.map(({ url, works }) => ({ url, ask: works[work]! }));
        const times = await load.ask('reads', { from, requests });
        for (const [which, time] of times.entries())
          values.add('baton', unit(work, stocked[which]!.size, store), time);
      }
    }
  }

  /** Starts a server for each size that is left, then reads from all. */
  async function readFrom(store: Store, left = sizes, stocked: readonly Stocked[] = []): Promise<void> {
    const [size, ...more] = left;
    if (size === undefined) return readIn(store, stocked);
    await places[store](async (choice) => {
      const baton = await startBaton({ ...choice, http: 'express' });
      await readFrom(store, more, [...stocked, await stock(size, baton)]);
      await baton.stop();
    });
  }

  for (const store of stores) await readFrom(store);
  await load.stop();

  const ratios: Record<string, number> = {};
  for (const store of stores) {
    for (const work of [...flat, counted]) {
      const times = sizes.map((size) => values.median('baton', unit(work, size, store)));
      ratios[growth(work, store)] = round(Math.max(...times) / Math.min(...times));
    }
  }
  return { results: values.results, ratios };
}
