import type { Answer, Scope } from '@batonjs/store';
import { DatabaseClock, type ListSearch, type Rows, Subscribers, type Topic } from '@batonjs/store/adapter';
import { retryRead } from './calls/retry-read.ts';
import type { RedisDriver } from './connection/driver.ts';
import type { Database } from './database/database.ts';
import { probe } from './database/probe.ts';
import { Changes } from './rows/changes.ts';
import { everyTask, freeze } from './rows/every-task.ts';
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
