import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBaton, startBatonWorker, startLoad } from './harness/contender.ts';
import { alternate, round, Values } from './harness/measure.ts';
import { places } from './harness/places.ts';

const stores = ['redis', 'postgres'] as const;
type Store = (typeof stores)[number];

/** Servers that run their own turns, or workers behind one server. */
const roles = ['servers', 'workers'] as const;
type Role = (typeof roles)[number];

const counts = [1, 2, 4] as const;
const most = 4;

const sendsOf = (role: Role, count: number, store: Store) => `sends/s, ${count} ${role}, ${store}`;
const cpuOf = (role: Role, count: number, store: Store) => `µs CPU per send, ${count} ${role}, ${store}`;
const databaseCpuOf = (role: Role, count: number, store: Store) =>
  `µs CPU of the database per send, ${count} ${role}, ${store}`;
const growth = (role: Role, store: Store) => `${most} / 1 ${role}, CPU per send, ${store}`;
const followedOf = (servers: number) => `µs CPU per event, followers at ${servers} servers, redis`;
const followedGrowth = `${most} / 1 servers, CPU per event and follower, redis`;

/**
 * One machine and more processes. Its cores and the load are shared, so that rates say where they end, and the CPU time
 * of all processes and of the database per send what one more process costs.
 */
export const benchmark: Benchmark = {
  number: 24,
  name: 'scale-out',
  mostRuns: 3,
  work: 'blocking sends to 1, 2 and 4 servers, to 1, 2 and 4 workers; 10,000 followers (`--size`) of one task at as many servers',
  goals: [
    ...stores.flatMap((store) => roles.map((role) => ({ ratio: growth(role, store), atMost: 1.5 }))),
    { ratio: followedGrowth, atMost: 1.5 },
  ],
  // Processes that hinder each other take several times as much.
  growth: [{ ratio: growth('servers', 'redis'), atMost: 4 }],
  run,
};

const connections = 64;

async function run({ runs, short, size = 10_000, store: only }: RunOptions): Promise<Measured> {
  const values = new Values();
  const ratios: Record<string, number> = {};
  const requests = short ? 400 : 8_000;
  const warmUp = short ? 100 : 4_000;

  /** The processes of one contender: those that answer, and all that take CPU time. */
  async function start(role: Role, count: number, choice: StoreChoice) {
    if (role === 'servers') {
      const servers = await Promise.all(
        Array.from({ length: count }, () => startBaton({ ...choice, http: 'node:http' })),
      );
      return { servers, all: servers };
    }
    const server = await startBaton({ ...choice, http: 'node:http', run: 'workers' });
    const workers = await Promise.all(Array.from({ length: count }, () => startBatonWorker(choice)));
    return { servers: [server], all: [server, ...workers] };
  }

  const sends = (role: Role, count: number, store: Store) =>
    places[store](async (choice, databaseCpu) => {
      const [load, { servers, all }] = await Promise.all([startLoad(), start(role, count, choice)]);
      const urls = await Promise.all(servers.map((server) => server.ask('url')));
      const sendAll = (each: number) =>
        Promise.all(
          urls.map((url) =>
            load.ask('sends', {
              url,
              connections: connections / urls.length,
              requests: Math.ceil(each / urls.length),
            }),
          ),
        );
      const cpu = async () =>
        (await Promise.all(all.map((process) => process.ask('cpu')))).reduce((sum, one) => sum + one, 0);

      await sendAll(warmUp);
      const [before, databaseBefore] = [await cpu(), databaseCpu()];
      const ms = Math.max(...(await sendAll(requests)));
      const database = databaseCpu() - databaseBefore;
      values.add('baton', sendsOf(role, count, store), (requests / ms) * 1_000);
      values.add('baton', databaseCpuOf(role, count, store), database / requests);
      values.add('baton', cpuOf(role, count, store), ((await cpu()) - before + database) / requests);
      await Promise.all([load, ...all].map((one) => one.stop()));
    });

  const follow = (count: number) =>
    places.redis(async (choice, databaseCpu) => {
      const followers = short ? 200 : size;
      const events = short ? 3 : 10;
      const [load, { servers }] = await Promise.all([startLoad(), start('servers', count, choice)]);
      const [taskId] = await servers[0]!.ask('begin', { tasks: 1, text: `ticks ${events} 1000` });
      for (const server of servers)
        await load.ask('followEach', {
          url: await server.ask('url'),
          taskIds: Array.from({ length: followers / count }, () => taskId!),
          count: events,
        });
      const cpu = async () =>
        (await Promise.all(servers.map((server) => server.ask('cpu')))).reduce((sum, one) => sum + one, 0) +
        databaseCpu();
      const before = await cpu();
      await Promise.all([servers[0]!.ask('start'), load.ask('followed')]);
      values.add('baton', followedOf(count), ((await cpu()) - before) / (followers * events));
      await Promise.all([load, ...servers].map((one) => one.stop()));
    });

  const growthOf = (unit: (count: number) => string) =>
    round(values.median('baton', unit(most)) / values.median('baton', unit(1)));

  // A process that has just started takes most of a short run.
  const names = (short ? [1, most] : counts).map(String);
  for (const store of stores.filter((one) => (only === undefined ? !short || one === 'redis' : one === only)))
    for (const role of roles) {
      await alternate(names, runs, (count) => sends(role, Number(count), store));
      ratios[growth(role, store)] = growthOf((count) => cpuOf(role, count, store));
    }
  if (only === undefined || only === 'redis') {
    await alternate(names, runs, (count) => follow(Number(count)));
    ratios[followedGrowth] = growthOf(followedOf);
  }
  return { results: values.results, ratios };
}
