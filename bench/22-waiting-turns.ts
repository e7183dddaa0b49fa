import type { WaitingTurns } from './contenders/baton/waiting-turns.ts';
import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { round, Values } from './harness/measure.ts';
import { places, type Store } from './harness/places.ts';
import { Worker } from './harness/worker.ts';

const stores: readonly Store[] = ['memory', 'sqlite', 'redis', 'postgres', 'etcd'];
/** Those that need no program of their own. */
const inProcess: readonly Store[] = ['memory', 'sqlite'];

/** How many turns run at once. */
const held = 8;
const kinds = ['sends', 'turns'] as const;
type Kind = (typeof kinds)[number];

const growth = (kind: Kind, store: Store) => `most / none waiting, CPU of ${kind}, ${store}`;
const stall = 'longest stall in ms while a worker drains 10,000 turns, memory';
const busiest = 'longest turn of the event loop in CPU ms while a worker drains 10,000 turns, memory';

/**
 * What a send costs that has to wait, and a turn that comes out of the queue, while few and many others wait there. The
 * CPU time of the database counts.
 */
export const benchmark: Benchmark = {
  number: 22,
  name: 'waiting-turns',
  mostRuns: 3,
  work: 'sends and turns while 0, 1,000, 20,000 and 100,000 (`--size`) turns wait, each store (`--store`)',
  goals: [
    ...stores.flatMap((store) => kinds.map((kind) => ({ ratio: growth(kind, store), atMost: 1.25 }))),
    { ratio: busiest, atMost: 50 },
  ],
  // What visits all that wait takes ten times as long and more.
  growth: inProcess.flatMap((store) => kinds.map((kind) => ({ ratio: growth(kind, store), atMost: 4 }))),
  run,
};

async function run({ runs, short, size = 100_000, store: only }: RunOptions): Promise<Measured> {
  const values = new Values();
  const ratios: Record<string, number> = {};
  const sizes = short ? [0, 4_000] : [0, 1_000, 20_000, size];
  const requests = short ? 50 : 1_000;
  const cpuUnit = (kind: Kind, waiting: number, store: Store) =>
    `µs CPU, one of the ${kind}, ${waiting} waiting, ${store}`;
  const rateUnit = (kind: Kind, waiting: number, store: Store) => `${kind}/s, ${waiting} waiting, ${store}`;

  const measure = (store: Store) => async (choice: StoreChoice, databaseCpu: () => number) => {
    const worker = await Worker.start<WaitingTurns>('contenders/baton/waiting-turns.ts', {
      ...choice,
      turns: held,
    });
    const cpu = async () => (await worker.ask('cpu')) + databaseCpu();
    for (const kind of kinds) await worker.ask(kind, short ? requests : 5 * requests);
    for (const waiting of sizes) {
      await worker.ask('fill', waiting);
      for (let n = 0; n < Math.max(3, runs); n++) {
        for (const kind of kinds) {
          const before = await cpu();
          const ms = await worker.ask(kind, requests);
          values.add('baton', cpuUnit(kind, waiting, store), ((await cpu()) - before) / requests);
          values.add('baton', rateUnit(kind, waiting, store), (requests / ms) * 1_000);
        }
      }
      const left = await worker.ask('waiting');
      // Turns that were free when the queue was filled have taken some since.
      if (left < waiting - held) throw new Error(`${left} instead of ${waiting} turns wait`);
    }
    await worker.stop();
    for (const kind of kinds) {
      const [none, most] = [0, sizes.at(-1)!].map((n) => values.median('baton', cpuUnit(kind, n, store)));
      ratios[growth(kind, store)] = round(most! / none!);
    }
  };

  async function drain(): Promise<void> {
    const worker = await Worker.start<WaitingTurns>('contenders/baton/waiting-turns.ts', {
      store: 'memory',
      turns: 1,
    });
    await worker.ask('drain', 1_000);
    for (let n = 0; n < runs; n++) {
      const longest = await worker.ask('drain', short ? 1_000 : 10_000);
      values.add('baton', stall, longest.stall);
      values.add('baton', busiest, longest.busiest);
    }
    await worker.stop();
    for (const unit of [stall, busiest]) ratios[unit] = round(values.median('baton', unit));
  }

  for (const store of stores) {
    if (only === undefined ? short && !inProcess.includes(store) : only !== store) continue;
    await places[store](measure(store));
    if (store === 'memory') await drain();
  }
  return { results: values.results, ratios };
}
