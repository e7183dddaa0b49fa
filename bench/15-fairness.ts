import type { AgentServerOptions } from '@batonjs/server';
import { completed, createAgentServer } from '@batonjs/server';
import { storeOf } from './contenders/stores.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { inFolder } from './harness/contender.ts';
import { round, Values } from './harness/measure.ts';

const concurrency = 4;
const withSchedule = 'turns of another caller before the next one, with a schedule';
const without = 'turns of another caller before the next one, without';
const cost = (order: string, store: string) => `CPU ms per turn of a full queue, ${order}, ${store}`;

/**
 * One caller has 10,000 waiting tasks; how many of them start before the task that another caller sends then? And what
 * does a turn cost while so many wait? Servers without HTTP around them.
 */
export const benchmark: Benchmark = {
  number: 15,
  name: 'fairness',
  work: `a caller with 10,000 waiting tasks beside another one, ${concurrency} turns at once`,
  goals: [
    { ratio: `${withSchedule}, memory`, atMost: 4 },
    { ratio: `${withSchedule}, SQLite`, atMost: 4 },
  ],
  growth: [
    { ratio: `${withSchedule}, memory`, atMost: 4 },
    { ratio: `${withSchedule}, SQLite`, atMost: 4 },
  ],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const tasks = short ? 200 : 10_000;
  for (let n = 0; n < runs; n++) {
    for (const store of ['memory', 'SQLite']) {
      for (const queue of [{ concurrency }, undefined]) {
        await inFolder(async (folder) => {
          const choice =
            store === 'memory' ? { store: 'memory' as const } : { store: 'sqlite' as const, folder };
          const { between, cpuMs } = await measure({ store: storeOf(choice), queue }, tasks);
          values.add('baton', `${queue ? withSchedule : without}, ${store}`, between);
          values.add('baton', cost(queue ? 'scheduled' : 'oldest first', store), cpuMs / tasks);
        });
      }
    }
  }
  const figure = (unit: string) => values.median('baton', unit);
  const costs = (store: string) => figure(cost('scheduled', store)) / figure(cost('oldest first', store));
  return {
    results: values.results,
    ratios: {
      [`${withSchedule}, memory`]: figure(`${withSchedule}, memory`),
      [`${withSchedule}, SQLite`]: figure(`${withSchedule}, SQLite`),
      [`${without}, SQLite`]: figure(`${without}, SQLite`),
      'CPU scheduled / oldest first, memory': round(costs('memory')),
      'CPU scheduled / oldest first, SQLite': round(costs('SQLite')),
    },
  };
}

/** How many turns of the first caller started before that of the other one, and the CPU time until all have ended. */
async function measure(options: Pick<AgentServerOptions, 'store' | 'queue'>, tasks: number) {
  const { store, queue } = options;
  const gate = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let started = 0;
  let ended = 0;
  let other: number | undefined;
  const server = createAgentServer({
    card: { name: 'Fair', description: 'Ends at once' },
    store,
    ...(queue && { queue }),
    limits: { turns: concurrency, queuedTurns: tasks + 10 },
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? '' }),
    onEvent(event) {
      if (event.type !== 'transition') return;
      if (event.to === 'TASK_STATE_COMPLETED' && ++ended === tasks + 1) done.resolve();
    },
    async *agent({ text }) {
      if (text === 'other') other = started;
      started++;
      await gate.promise;
      yield completed();
    },
  });
  const send = async (caller: string, text: string, messageId: string) => {
    const message = { messageId, role: 'ROLE_USER', parts: [{ text }] };
    const response = await server.fetch(
      new Request('http://localhost/message:send', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-caller': caller },
        body: JSON.stringify({ message, configuration: { returnImmediately: true } }),
      }),
    );
    if (!response.ok)
      throw new Error(`A send was answered with ${response.status}: ${await response.text()}`);
  };
  for (let n = 0; n < tasks; n += 100)
    await Promise.all(
      Array.from({ length: Math.min(100, tasks - n) }, (_, m) => send('one', 'one', `m${n + m}`)),
    );
  await send('other', 'other', 'other');
  const before = started;
  // A server has no socket here: without this timer, the process would end.
  const awake = setInterval(() => {}, 1_000);
  const cpu = process.cpuUsage();
  gate.resolve();
  await done.promise;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(awake);
  await server.close();
  await store.close();
  if (other === undefined) throw new Error('The task of the other caller did not run');
  return { between: Math.max(0, other - before), cpuMs: (user + system) / 1_000 };
}
