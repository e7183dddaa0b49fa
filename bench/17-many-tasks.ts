import type { LargeStore } from './contenders/baton/large-store.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { round, Values } from './harness/measure.ts';
import { places } from './harness/places.ts';
import { Worker } from './harness/worker.ts';

const stores = ['sqlite', 'postgres'] as const;
type Store = (typeof stores)[number];
const reads = ['load', 'first page', 'last page'] as const;

const growth = (work: string, store: Store) => `most / fewest tasks, ${work}, ${store}`;
const delay = (store: Store) => `ms that pruning adds to the longest commit, ${store}`;

/** The stores alone, with few tasks and with many: single reads, and a prune of a tenth while sends go on. */
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

async function run({ runs, short, size = 100_000, store: only }: RunOptions): Promise<Measured> {
  const values = new Values();
  const ratios: Record<string, number> = {};
  const [few, many] = short ? [500, 10_000] : [10_000, size];
  const rounds = short ? 3 : 10 * Math.max(1, runs);
  const unit = (work: string, tasks: number, store: Store) => `µs, ${work}, ${tasks} tasks, ${store}`;

  /** Few and many tasks take turns, so that other work on the machine disturbs both alike. */
  async function compareReads(store: Store, workers: ReadonlyMap<number, Worker<LargeStore>>) {
    for (let round = 0; round <= rounds; round++) {
      for (const [tasks, worker] of workers) {
        const medians = await worker.ask('reads', { size: tasks, requests: 100 });
        // The first round only warms up.
        if (round > 0)
          for (const work of reads) values.add('baton', unit(work, tasks, store), medians[work]!);
      }
    }
    for (const work of reads) {
      const [least, most] = [few, many].map((tasks) => values.median('baton', unit(work, tasks, store)));
      ratios[growth(work, store)] = round(most! / least!);
    }
  }

  /** Sends with a prune beside them, and for as long without one, take turns. */
  async function prune(store: Store, worker: Worker<LargeStore>) {
    const steps = short ? 1 : 10;
    const units = (when: string) => [
      `ms, longest commit ${when}, ${store}`,
      `ms, p99 of commits ${when}, ${store}`,
    ];
    const [during, alone] = [units('while tasks are pruned'), units('without')];
    const step = many / 10 / steps;
    for (let n = 0; n < steps; n++) {
      const { ms, longest, p99 } = await worker.ask('prune', { from: n * step, to: (n + 1) * step });
      const without = await worker.ask('sendFor', ms);
      values.add('baton', `ms to prune ${step} tasks, ${store}`, ms);
      for (const [index, value] of [longest, p99].entries()) values.add('baton', during[index]!, value);
      for (const [index, value] of [without.longest, without.p99].entries())
        values.add('baton', alone[index]!, value);
    }
    ratios[delay(store)] = round(values.median('baton', during[0]!) - values.median('baton', alone[0]!));
  }

  for (const store of stores.filter((one) => only === undefined || only === one))
    await places[store]((small) =>
      places[store](async (large) => {
        const workers = new Map<number, Worker<LargeStore>>();
        for (const [tasks, choice] of [
          [few, small],
          [many, large],
        ] as const) {
          const worker = await Worker.start<LargeStore>('contenders/baton/large-store.ts', choice);
          await worker.ask('fill', { from: 0, to: tasks });
          workers.set(tasks, worker);
        }
        await compareReads(store, workers);
        await prune(store, workers.get(many)!);
        for (const worker of workers.values()) await worker.stop();
      }),
    );
  return { results: values.results, ratios };
}
