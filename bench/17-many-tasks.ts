import type { LargeStore } from './contenders/large-store.ts';
import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { inFolder, withPostgres } from './harness/contender.ts';
import { round, Values } from './harness/measure.ts';
import { Worker } from './harness/worker.ts';

/** Each calls with somewhere new to keep tasks. */
const places = {
  sqlite: (use: (choice: StoreChoice) => Promise<void>) =>
    inFolder((folder) => use({ store: 'sqlite', folder })),
  postgres: (use: (choice: StoreChoice) => Promise<void>) =>
    withPostgres(({ url }) => use({ store: 'postgres', postgres: url })),
};
type Store = keyof typeof places;
const stores = Object.keys(places) as Store[];
const reads = ['load', 'first page', 'last page'] as const;

const growth = (work: string, store: Store) => `most / fewest tasks, ${work}, ${store}`;
const delay = (store: Store) => `longest commit in ms while tasks are pruned, ${store}`;

/** The stores alone, with few tasks, then with many: single reads, and a prune of a tenth while sends go on. */
export const benchmark: Benchmark = {
  number: 17,
  name: 'many-tasks',
  work: 'a store with 10,000 and with 100,000 tasks (`--size`): reads, and a prune while sends go on',
  goals: stores.flatMap((store) => [
    ...reads.map((work) => ({ ratio: growth(work, store), atMost: 1.25 })),
    { ratio: delay(store), atMost: 50 },
  ]),
  // Twenty times the tasks: a read of all of them takes ten times as long and more.
  growth: stores.flatMap((store) => reads.map((work) => ({ ratio: growth(work, store), atMost: 5 }))),
  run,
};

async function run({ runs, short, size = 100_000 }: RunOptions): Promise<Measured> {
  const values = new Values();
  const [few, many] = short ? [500, 10_000] : [10_000, size];
  const requests = short ? 100 : 1_000;
  const unit = (work: string, tasks: number, store: Store) => `µs, ${work}, ${tasks} tasks, ${store}`;

  async function measure(store: Store, choice: StoreChoice): Promise<void> {
    const worker = await Worker.start<LargeStore>('contenders/large-store.ts', choice);
    let filled = 0;
    for (const tasks of [few, many]) {
      await worker.ask('fill', { from: filled, to: tasks });
      filled = tasks;
      await worker.ask('reads', { size: tasks, requests });
      for (let n = 0; n < Math.max(3, runs); n++) {
        const medians = await worker.ask('reads', { size: tasks, requests });
        for (const work of reads) values.add('baton', unit(work, tasks, store), medians[work]!);
      }
    }
    const { ms, before, during, p99 } = await worker.ask('prune', many / 10);
    values.add('baton', `ms to prune ${many / 10} tasks, ${store}`, ms);
    values.add('baton', `ms, longest commit before, ${store}`, before);
    values.add('baton', `ms, longest commit meanwhile, ${store}`, during);
    values.add('baton', `ms, p99 of commits meanwhile, ${store}`, p99);
    await worker.stop();
  }

  for (const store of stores) await places[store]((choice) => measure(store, choice));

  const ratios: Record<string, number> = {};
  for (const store of stores) {
    for (const work of reads) {
      const [least, most] = [few, many].map((tasks) => values.median('baton', unit(work, tasks, store)));
      ratios[growth(work, store)] = round(most! / least!);
    }
    ratios[delay(store)] = values.median('baton', `ms, longest commit meanwhile, ${store}`);
  }
  return { results: values.results, ratios };
}
