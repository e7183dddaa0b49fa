import { budgets, trips } from './counters/budgets.ts';
import type { counted } from './counters/counted.ts';
import type { Counter, Work } from './counters/counts.ts';
import type { countedTrips } from './counters/trips.ts';
import type { Benchmark, Goal, Measured, RunOptions } from './harness/benchmark.ts';
import { round } from './harness/measure.ts';
import { places } from './harness/places.ts';
import { Worker } from './harness/worker.ts';

/** Nothing is compiled or collected meanwhile: the same work takes the same each time. */
const flags = [
  '--no-opt',
  '--no-sparkplug',
  '--single-threaded',
  '--no-incremental-marking',
  '--expose-gc',
  '--min-semi-space-size=256',
  '--max-semi-space-size=256',
];

const stores = Object.keys(budgets) as (keyof typeof budgets)[];
const works: Readonly<Record<Work, string>> = {
  send: 'a blocking send',
  event: 'an event of a stream',
  step: 'a step',
};
const nameOf = (counter: string, work: Work, store: string) => `${counter}, ${works[work]}, ${store}`;

const databases = Object.keys(trips) as (keyof typeof trips)[];
const tripOf = (counter: string, store: string) => `${counter}, a task of three steps, ${store}`;

const goals: readonly Goal[] = [
  ...stores.flatMap((store) =>
    (Object.keys(works) as Work[]).flatMap((work) =>
      Object.entries(budgets[store][work]).map(([counter, atMost]) => ({
        ratio: nameOf(counter, work, store),
        atMost,
      })),
    ),
  ),
  ...databases.flatMap((store) =>
    Object.entries(trips[store]).map(([counter, atMost]) => ({ ratio: tripOf(counter, store), atMost })),
  ),
];

/** What a send, an event and a step take that can be counted: the same on every machine, however busy it is. */
export const benchmark: Benchmark = {
  number: 23,
  name: 'counters',
  mostRuns: 1,
  work: 'a blocking send, an event and a step in process, and what a task asks of its database: counts',
  goals,
  growth: goals,
  run,
};

async function run({ store: only }: RunOptions): Promise<Measured> {
  const ratios: Record<string, number> = {};
  const isChosen = (store: string) => only === undefined || only === store;
  for (const store of stores.filter(isChosen)) {
    await places[store](async (choice) => {
      for (const work of Object.keys(works) as Work[]) {
        const worker = await Worker.start<typeof counted>('counters/counted.ts', choice, flags);
        const counts = await worker.ask('count', work);
        await worker.stop();
        for (const [counter, count] of Object.entries(counts) as [Counter, number][])
          ratios[nameOf(counter, work, store)] = round(count);
      }
    });
  }
  for (const store of databases.filter(isChosen))
    await places[store](async (choice) => {
      const worker = await Worker.start<typeof countedTrips>('counters/trips.ts', choice);
      const counts = await worker.ask('count');
      await worker.stop();
      for (const [counter, count] of Object.entries(counts)) ratios[tripOf(counter, store)] = count;
    });
  return { results: [], ratios };
}
