import { join } from 'node:path';
import pg from 'pg';
import type { BareRedis } from './contenders/bare/bare-redis.ts';
import type { BareSqlite } from './contenders/bare/bare-sqlite.ts';
import type { OfficialSdkOptions } from './contenders/official-sdk/official-sdk.ts';
import type { StoreChoice } from './contenders/stores.ts';
import type { Benchmark, Contender, Measured, RunOptions } from './harness/benchmark.ts';
import {
  commitsOfBaton,
  inFolder,
  migrateOfficialSdk,
  startBaton,
  startLoad,
  startOfficialSdk,
  withPostgres,
  withRedis,
} from './harness/contender.ts';
import { round, Values } from './harness/measure.ts';
import { Worker } from './harness/worker.ts';

const stores = ['memory', 'sqlite', 'redis', 'postgres'] as const;
const modes = ['blocking', 'streaming'] as const;
const counts = [1_000, 2_000, 4_000, 8_000];
type Store = (typeof stores)[number];
type Mode = (typeof modes)[number];
/** The stores that the official SDK has too. */
const peers = ['memory', 'sqlite', 'postgres'] as const;
type Peer = (typeof peers)[number];

const growth = (mode: Mode, store: Store) => `t(8000) / t(4000), ${mode}, ${store}`;
const cpuGrowth = (mode: Mode, store: Store) => `CPU(8000) / CPU(1000), ${mode}, ${store}`;
const bytesGrowth = (store: Store) => `bytes per chunk at 8000 / at 1000, ${store}`;
const stall = (store: Store) => `longest stall in ms, ${store}`;
const speedUp = (mode: Mode, store: Store) => `times as fast as official-sdk at 4000, ${mode}, ${store}`;
const emittedSpeedUp = (store: Peer) => `times as fast as official-sdk at 4000, emitted, ${store}`;
const each = <T>(of: (mode: Mode, store: Store) => T): T[] =>
  stores.flatMap((store) => modes.map((mode) => of(mode, store)));
const constantBytes = stores.map((store) => ({ ratio: bytesGrowth(store), atMost: 1.25 }));

/**
 * Many chunks of 48 bytes appended to one artifact. The bytes that are written for each are counted: by the system for the
 * files (and sockets) of a process on SQLite, by Redis for its append-only file, by PostgreSQL for its write-ahead log; in
 * memory, those handed to the store. Agents yield each chunk, and wait until it is stored; `emitted`: they go on at once, as
 * executors of the official SDK do, and stream. The
 * floor of SQLite is a transaction for each commit: what the disk takes for chunks that are stored one by one.
 */
export const benchmark: Benchmark = {
  number: 5,
  name: 'chunks',
  mostRuns: 3,
  work: '1,000 to 8,000 chunks appended to one artifact, blocking and streaming, each store',
  goals: [
    ...constantBytes,
    ...each((mode, store) => ({ ratio: growth(mode, store), atMost: 2.5 })),
    ...modes.map((mode) => ({ ratio: speedUp(mode, 'memory'), atLeast: 50 })),
    ...modes.map((mode) => ({ ratio: speedUp(mode, 'sqlite'), atLeast: 10 })),
    { ratio: emittedSpeedUp('sqlite'), atLeast: 10 },
    { ratio: 'baton / bare-redis at 4000', atLeast: 0.6 },
    ...stores.map((store) => ({ ratio: stall(store), atMost: 50 })),
  ],
  // Eight times the chunks: what grows with their square takes 64 times as long.
  growth: [...constantBytes, ...each((mode, store) => ({ ratio: cpuGrowth(mode, store), atMost: 20 }))],
  run,
};

const time = (count: number, mode: Mode, store: Store) => `ms for ${count} chunks, ${mode}, ${store}`;
const cpu = (count: number, mode: Mode, store: Store) => `ms CPU for ${count} chunks, ${mode}, ${store}`;
const emittedTime = (store: Peer) => `ms for 4000 chunks, emitted, ${store}`;
const bareTime = 'ms for 4000 commits';
const bytes = (count: number, store: Store) => `bytes per chunk of ${count}, ${store}`;

async function run({ runs, short, store: only }: RunOptions): Promise<Measured> {
  const values = new Values();
  const less = short ? 4 : 1;

  async function chunksIn(
    choice: Exclude<StoreChoice, { store: 'etcd' }>,
    kept?: () => Promise<number>,
  ): Promise<void> {
    const { store } = choice;
    const [load, baton] = await Promise.all([startLoad(), startBaton({ ...choice, http: 'express' })]);
    const url = await baton.ask('url');
    const written = kept ?? (async () => (await baton.ask('written')) ?? 0);
    for (const mode of modes) await load.ask('chunks', { url, count: 1_000 / less, mode });
    await baton.ask('stall');
    for (const mode of modes) {
      for (const count of counts) {
        const before = { bytes: await written(), cpu: await baton.ask('cpu') };
        const ms = await load.ask('chunks', { url, count: count / less, mode });
        values.add('baton', time(count, mode, store), ms);
        values.add('baton', cpu(count, mode, store), ((await baton.ask('cpu')) - before.cpu) / 1_000);
        if (mode === 'blocking' && store !== 'memory')
          values.add('baton', bytes(count, store), ((await written()) - before.bytes) / (count / less));
      }
    }
    values.add('baton', stall(store), await baton.ask('stall'));
    await Promise.all([load.stop(), baton.stop()]);
  }

  async function bytesInMemory(): Promise<void> {
    const [load, baton] = await Promise.all([
      startLoad(),
      startBaton({ store: 'memory', http: 'express', counted: true }),
    ]);
    const url = await baton.ask('url');
    for (const count of counts) {
      const before = await baton.ask('handed');
      await load.ask('chunks', { url, count: count / less, mode: 'blocking' });
      values.add('baton', bytes(count, 'memory'), ((await baton.ask('handed')) - before) / (count / less));
    }
    await Promise.all([load.stop(), baton.stop()]);
  }

  async function emitted(choice: StoreChoice & { store: Peer }): Promise<void> {
    const [load, baton] = await Promise.all([
      startLoad(),
      startBaton({ ...choice, http: 'express', emits: true }),
    ]);
    const url = await baton.ask('url');
    await load.ask('chunks', { url, count: 1_000 / less, mode: 'streaming' });
    const ms = await load.ask('chunks', { url, count: 4_000 / less, mode: 'streaming' });
    values.add('baton', emittedTime(choice.store), ms);
    await Promise.all([load.stop(), baton.stop()]);
  }

  async function officialSdk(choice: OfficialSdkOptions): Promise<void> {
    if (choice.store === 'postgres') migrateOfficialSdk(choice.postgres);
    if (choice.store === 'sqlite') migrateOfficialSdk(`sqlite:${join(choice.folder, 'tasks.db')}`);
    const [load, sdk] = await Promise.all([startLoad(), startOfficialSdk(choice)]);
    const url = await sdk.ask('url');
    for (const mode of modes) {
      await load.ask('chunks', { url, count: short ? 20 : 500, mode });
      const ms = await load.ask('chunks', { url, count: 4_000 / less, mode });
      values.add('official-sdk', time(4_000, mode, choice.store), ms);
    }
    await Promise.all([load.stop(), sdk.stop()]);
  }

  async function bareSqlite(folder: string): Promise<void> {
    const options = { folder, listable: false, commits: await commitsOfBaton() };
    const floor = await Worker.start<BareSqlite>('contenders/bare/bare-sqlite.ts', options);
    const groups = Array<number>(4_000 / less).fill(1);
    await floor.ask('replay', { groups: groups.slice(0, 500), tasks: 1 });
    values.add('bare-sqlite', bareTime, await floor.ask('replay', { groups, tasks: 1 }));
    await floor.stop();
  }

  async function bareRedis(redis: string): Promise<void> {
    const commits = await commitsOfBaton();
    const floor = await Worker.start<BareRedis>('contenders/bare/bare-redis.ts', { redis, commits });
    await floor.ask('chunks', 4_000 / less);
    values.add('bare-redis', bareTime, await floor.ask('chunks', 4_000 / less));
    await floor.stop();
  }

  const work: Record<Store, () => Promise<void>> = {
    async memory() {
      await chunksIn({ store: 'memory' });
      await bytesInMemory();
      await officialSdk({ store: 'memory' });
      await emitted({ store: 'memory' });
    },
    async sqlite() {
      await inFolder((folder) => chunksIn({ store: 'sqlite', folder }));
      await inFolder((folder) => officialSdk({ store: 'sqlite', folder }));
      await inFolder((folder) => emitted({ store: 'sqlite', folder }));
      await inFolder(bareSqlite);
    },
    async postgres() {
      await withPostgres(({ url }) => chunksIn({ store: 'postgres', postgres: url }, () => bytesOfLog(url)));
      await withPostgres(({ url }) => emitted({ store: 'postgres', postgres: url }));
      await withPostgres(({ url }) => officialSdk({ store: 'postgres', postgres: url }));
    },
    async redis() {
      await withRedis((redis) =>
        chunksIn({ store: 'redis', redis: redis.url }, async () =>
          Number(/aof_current_size:(\d+)/.exec(await redis.cli('INFO', 'persistence'))?.[1]),
        ),
      );
      await withRedis(({ url }) => bareRedis(url));
    },
  };
  const measured = stores.filter((store) => only === undefined || only === store);
  for (let n = 0; n < runs; n++) for (const store of measured) await work[store]();
  return { results: values.results, ratios: ratiosOf(values, measured) };
}

/** How much PostgreSQL has written to its write-ahead log so far. */
async function bytesOfLog(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`);
  await client.end();
  return Number(rows[0].bytes);
}

const isPeer = (store: Store): store is Peer => peers.some((peer) => peer === store);

function ratiosOf(values: Values, measured: readonly Store[]): Record<string, number> {
  const ratios: Record<string, number> = {};
  const of = (unit: string, contender: Contender = 'baton') => values.median(contender, unit);
  for (const store of measured) {
    ratios[bytesGrowth(store)] = round(of(bytes(8_000, store)) / of(bytes(1_000, store)));
    ratios[stall(store)] = round(of(stall(store)));
    for (const mode of modes) {
      const [t4000, t8000] = [of(time(4_000, mode, store)), of(time(8_000, mode, store))];
      ratios[growth(mode, store)] = round(t8000 / t4000);
      ratios[cpuGrowth(mode, store)] = round(of(cpu(8_000, mode, store)) / of(cpu(1_000, mode, store)));
      if (isPeer(store))
        ratios[speedUp(mode, store)] = round(of(time(4_000, mode, store), 'official-sdk') / t4000);
    }
    if (isPeer(store))
      ratios[emittedSpeedUp(store)] = round(
        of(time(4_000, 'streaming', store), 'official-sdk') / of(emittedTime(store)),
      );
    if (store !== 'sqlite' && store !== 'redis') continue;
    const bare = of(bareTime, `bare-${store}`);
    ratios[`baton / bare-${store} at 4000`] = round(bare / of(time(4_000, 'blocking', store)));
    if (store !== 'sqlite') continue;
    for (const mode of modes)
      ratios[`times as fast as official-sdk at 4000, ${mode}, bare-sqlite`] = round(
        of(time(4_000, mode, 'sqlite'), 'official-sdk') / bare,
      );
  }
  return ratios;
}
