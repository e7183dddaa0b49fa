import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareNotify, startBaton, startBatonWorker, startLoad } from './harness/contender.ts';
import { median, round, Values } from './harness/measure.ts';
import { places } from './harness/places.ts';

const stores = ['sqlite', 'redis', 'postgres', 'etcd'] as const;
type Store = (typeof stores)[number];

const toFirst = (store: Store) => `ms from SUBMITTED to the first event of the turn, ${store}`;
const roundTrip = (store: Store) => `ms of a round trip of the notification, ${store}`;
const extra = (store: Store) => `ms beyond a round trip of the notification, ${store}`;

/** A server that leaves its turns to a worker in another process: one stream after another, each on an idle worker. */
export const benchmark: Benchmark = {
  number: 19,
  name: 'worker',
  work: 'a turn in a worker on another process: accepted to its first event, each store',
  goals: stores.map((store) => ({ ratio: extra(store), atMost: 5 })),
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const rounds = short ? 1 : 10;
  const streams = short ? 3 : 10;
  const warmUp = short ? 1 : 100;
  /** At random, so that streams meet a store that is polled at any moment between two polls. */
  const pauseMs = short ? 5 : 50;
  const extras: Record<string, number[]> = {};

  async function measure(store: Store, choice: StoreChoice): Promise<void> {
    const [load, server, worker, ping, pong] = await Promise.all([
      startLoad(),
      startBaton({ ...choice, http: 'node:http', run: 'workers' }),
      startBatonWorker(choice),
      startBareNotify({ ...choice, role: 'ping' }),
      startBareNotify({ ...choice, role: 'pong' }),
    ]);
    const url = await server.ask('url');
    await load.ask('streamsInTurn', { url, streams: warmUp, pauseMs: 0 });
    await ping.ask('roundTrips', { count: warmUp, pauseMs: 0 });
    for (let n = 0; n < runs; n++) {
      const firsts: number[] = [];
      const trips: number[] = [];
      // In turns, so that what else the machine does falls on both.
      for (let round = 0; round < rounds; round++) {
        const seen = await load.ask('streamsInTurn', { url, streams, pauseMs });
        firsts.push(...seen.map(({ submitted, working }) => working - submitted));
        trips.push(...(await ping.ask('roundTrips', { count: streams, pauseMs })));
      }
      values.add('baton', toFirst(store), median(firsts));
      values.add('bare-notify', roundTrip(store), median(trips));
      const beyond = median(firsts) - median(trips);
      extras[extra(store)] = [...(extras[extra(store)] ?? []), beyond];
    }
    await Promise.all([load, server, worker, ping, pong].map((one) => one.stop()));
  }

  // A cluster of etcd and a PostgreSQL take long to start.
  const measured = short ? stores.slice(0, 2) : stores;
  for (const store of measured) await places[store]((choice) => measure(store, choice));
  const entries = Object.entries(extras);
  return {
    results: values.results,
    ratios: Object.fromEntries(entries.map(([name, ms]) => [name, round(median(ms))])),
    spreads: Object.fromEntries(
      entries.map(([name, ms]) => [name, [round(Math.min(...ms)), round(Math.max(...ms))] as const]),
    ),
  };
}
