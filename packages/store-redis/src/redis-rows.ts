import { type Answer, type Scope, StoreError } from '@batonjs/store';
import { DatabaseClock, type ListSearch, type Rows, Subscribers, type Topic } from '@batonjs/store/adapter';
import type { RowPage } from '@batonjs/store/rules';
import { listOf, type RedisDriver } from './connection/driver.ts';
import { type Database, script } from './database/database.ts';
import { every } from './lua/every.ts';
import { Changes } from './rows/changes.ts';
import { Logs } from './rows/logs.ts';
import { Reader } from './rows/reader.ts';
import { TaskList } from './rows/task-list.ts';

/** The rows of a Redis. */
export function redisRows(database: Database, driver: RedisDriver): Rows {
  const clock = new DatabaseClock();
  const reader = new Reader(database, clock);
  const subscribers = new Subscribers();
  const changes = new Changes(database, reader, clock);
  const logs = new Logs(database, reader);
  const tasks = new TaskList(database);
  let listening: Promise<void> | undefined;

  async function listen(): Promise<void> {
    const { all } = await database.shards();
    await driver.subscribe(
      all.map(({ channel }) => channel),
      (message) => {
        const [number, version] = message.split(' ');
        subscribers.notify(Number(number), version ? Number(version) : undefined);
      },
      () => subscribers.notifyAll(),
    );
  }

  return {
    system: 'redis',
    encode: JSON.stringify,
    read: (wanted) => retryRead(() => reader.find(wanted)),
    change: (step) => changes.run(step),
    log: (scope: Scope, taskId: string) => retryRead(() => logs.log(scope, taskId)),
    facts: (scope: Scope, taskId: string, after: number, limit: number) =>
      retryRead(() => logs.facts(scope, taskId, after, limit)),
    page: (scope: Scope, search: ListSearch) => retryRead(() => tasks.list(scope, search)),

    every: (from, limit) => retryRead(() => everyTask(database, from, limit)),
    freeze: (ms) => freeze(database, ms),

    async subscribe(topic: Topic, notify: (version?: number) => void) {
      const unsubscribe = subscribers.add(topic, notify);
      try {
        listening ??= listen();
        await listening;
      } catch (error) {
        listening = undefined;
        unsubscribe();
        throw error;
      }
      return unsubscribe;
    },

    identity: () => retryRead(() => database.identity()),
    probe: () => probe(database),
    ping: () => retryRead(async () => void (await database.identity())),
    close: () => driver.close(),
    parts(): Answer<{ count: number; of(taskId: string): number }> {
      const partsOf = (shards: Awaited<ReturnType<Database['shards']>>) => ({
        count: shards.all.length,
        of: (taskId: string) => shards.all.indexOf(shards.of(taskId)),
      });
      const shards = database.shards();
      return shards instanceof Promise ? shards.then(partsOf) : partsOf(shards);
    },
  };
}

const frozen = () =>
  new StoreError('UNAVAILABLE', 'Redis takes no writes: its tasks are being copied, or were', {
    trouble: 'read-only',
  });

/** Checks that every shard can be written, and that Redis evicts nothing. */
async function probe(database: Database): Promise<void> {
  const { all } = await database.shards();
  await Promise.all(
    all.map(async ({ base }) => {
      const key = `${base}probe`;
      // The key expires, in case this was the last probe.
      await database.command('SET', key, '', 'PX', '60000');
      if (Number(await database.command('EXISTS', `${base}frozen`)) > 0) throw frozen();
      database.mustNotEvict(await database.memory(key));
    }),
  );
}

const everyScript = script(every);

/** See `Rows.every`. A page begins at a shard, and at a cursor of `SCAN` there. Keys that a Cluster moves may be missed. */
async function everyTask(database: Database, from = '0 0', limit: number): Promise<RowPage> {
  const [part, cursor = '0'] = from.split(' ');
  const shards = await database.shards();
  const shard = shards.at(Number(part));
  // The characters that a pattern gives a meaning.
  const pattern = `${shard.base.replaceAll(/[\\*?[\]^-]/g, '\\$&')}task:*`;
  // Keys of other kinds count, too.
  const count = String(Math.max(limit, 500));
  const reply = await database.ofShard(everyScript, shard, [cursor, count, pattern]);
  const [next, ...rows] = listOf(reply).map(String);
  const following = next === '0' ? `${Number(part) + 1} 0` : `${part} ${next}`;
  const isLast = next === '0' && Number(part) + 1 === shards.all.length;
  return { rows: rows.map((row) => JSON.parse(row)), next: isLast ? undefined : following };
}

/** See `Rows.freeze`. Scripts that write look at the key. */
async function freeze(database: Database, ms: number): Promise<void> {
  const { all } = await database.shards();
  const forMs = ms === Number.POSITIVE_INFINITY ? [] : ['PX', String(Math.ceil(ms))];
  for (const { base } of all)
    await (ms > 0
      ? database.command('SET', `${base}frozen`, '', ...forMs)
      : database.command('DEL', `${base}frozen`));
}

/** A read that failed sooner lost its connection. A read that took longer has used its time, in milliseconds. */
const soonMs = 1_000;

/** Repeats a read once if its connection was lost. Unlike a write, a read may be repeated. */
async function retryRead<T>(read: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await read();
  } catch (error) {
    if (!StoreError.is(error, 'UNAVAILABLE') || performance.now() - start > soonMs) throw error;
    return read();
  }
}
