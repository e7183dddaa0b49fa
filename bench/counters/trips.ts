/** Baton in a process that counts what a task of three steps asks of its database. */
import { subscribe } from 'node:diagnostics_channel';
import { StatementSync } from 'node:sqlite';
import pg from 'pg';
import { createClient } from 'redis';
import { type StoreChoice, storeOf } from '../contenders/stores.ts';
import { median } from '../harness/measure.ts';
import { answer, given } from '../harness/worker.ts';
import { countedServer } from './counted-server.ts';

const counts: Record<string, number> = {};
const count = (name: string) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Calls first, whenever a method is called. */
function before<Target extends object>(
  target: Target,
  name: keyof Target,
  call: (self: unknown, args: readonly unknown[]) => void,
) {
  const original = target[name] as (...args: unknown[]) => unknown;
  const counted = function (this: unknown, ...args: unknown[]) {
    call(this, args);
    return original.apply(this, args);
  };
  Object.assign(target, { [name]: counted });
}

/** The poll of a process that has just begun to listen belongs to no task. */
const isOfPoll = (query: unknown) => /^SELECT (u\.)?key/.test(String(Object(query).text ?? query));

const choice = given<StoreChoice>();
if (choice.store === 'sqlite')
  for (const name of ['run', 'get', 'all', 'iterate'] as const)
    before(StatementSync.prototype, name, (statement) => {
      if (!(statement instanceof StatementSync)) return;
      count('statements');
      if (statement.sourceSQL === 'BEGIN IMMEDIATE') count('synced commits');
    });
else if (choice.store === 'postgres')
  before(pg.Client.prototype, 'query', (_, [query]) => !isOfPoll(query) && count('round trips'));
else if (choice.store === 'redis') {
  const monitor = createClient({ url: choice.redis });
  await monitor.connect();
  // Those inside of a script come with it.
  await monitor.monitor((line) => !String(line).includes(' lua] ') && count('commands'));
} else if (choice.store === 'etcd') subscribe('http2.client.stream.created', () => count('requests'));

const ask = countedServer(storeOf(choice));

export const countedTrips = {
  /** The medians: what is done from time to time is in few tasks only. */
  async count(): Promise<Readonly<Record<string, number>>> {
    for (let n = 0; n < 30; n++) await ask('task 3', false);
    const all: Record<string, number>[] = [];
    for (let n = 0; n < 15; n++) {
      for (const name of Object.keys(counts)) counts[name] = 0;
      await ask('task 3', false);
      // What follows the answer belongs to the task, too.
      await new Promise((resolve) => setTimeout(resolve, 20));
      all.push({ ...counts });
    }
    return Object.fromEntries(
      Object.keys(counts).map((name) => [name, median(all.map((one) => one[name]!))]),
    );
  },
};

answer(countedTrips);
