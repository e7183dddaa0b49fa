import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Fact } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import { expect, it, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { scope } from '../kit/scope.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { builtProgram } from '../support/built-program.ts';
import { etcdForTests } from '../support/etcd.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import { openStore, type StoreAddress } from './open-store.ts';

const isLong = repetitions(0, 1) === 1;
const [redis, postgres, etcd] = isLong
  ? await Promise.all([redisForTests(), postgresForTests(), etcdForTests()])
  : [];

const serveRecurring = await builtProgram(new URL('./serve-recurring.ts', import.meta.url));

const places: readonly [StoreAddress['kind'], string | undefined][] = [
  ['sqlite', 'tasks.db'],
  ['redis', redis?.url],
  ['postgres', postgres?.url],
  ['etcd', etcd?.urls.join(',')],
];

const label = 'schedule:tick';

/** The due times for which tasks were started, in seconds since 1970, the first one first. */
async function started(store: TaskStore): Promise<number[]> {
  const { tasks } = await store.list(scope, { limit: 1_000, labels: [label] });
  const firsts = await Promise.all(tasks.map(({ taskId }) => store.readFacts(scope, taskId, 0, 1)));
  return firsts.map(([first]) => Date.parse(dueAtOf(first!.fact)) / 1_000).toSorted((a, b) => a - b);
}

const dueAtOf = (fact: Fact): string => {
  const { schedule } = (fact.type === 'message-received' && fact.metadata) || {};
  return (schedule as { dueAt: string }).dueAt;
};

it.each(places.filter(([, url]) => url !== undefined))(
  'a recurring task starts once for each due time while two processes are killed and started again: %s',
  async (kind, url) => {
    const at = kind === 'sqlite' ? join(temporaryFolder(), url!) : url!;
    const address: StoreAddress = { kind, at, part: `recurring-${randomUUID()}` };
    const store = closedAfterTest(openStore(address));
    const begin = async () => {
      const process = run(node, [serveRecurring, JSON.stringify(address)]);
      await process.until(/ready/);
      return process;
    };
    const atLeast = (count: number) =>
      vi.waitFor(async () => expect((await started(store)).length).toBeGreaterThanOrEqual(count), {
        timeout: 60_000,
        interval: 100,
      });
    const rounds = repetitions(1, 5);
    await using first = await begin();
    await using second = await begin();
    await atLeast(2);
    first.signal('SIGKILL');
    await first.ended;
    await atLeast((await started(store)).length + 1);
    // Now no process is there, for more than a due time.
    second.signal('SIGKILL');
    await second.ended;
    const before = (await started(store)).at(-1)!;
    await vi.waitFor(() => expect(Date.now() / 1_000).toBeGreaterThan(before + 2), 30_000);
    for (let round = 0; round < rounds; round++) {
      await using third = await begin();
      await using fourth = await begin();
      await atLeast((await started(store)).length + 2);
      third.signal('SIGKILL');
      fourth.signal('SIGKILL');
      await Promise.all([third.ended, fourth.ended]);
    }
    const times = await started(store);
    expect(times).toEqual(times.map((_, index) => times[0]! + index));
  },
);
