import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareWs, startLoad, startTaskGateway } from './harness/contender.ts';
import { alternate, Values } from './harness/measure.ts';

const perCpuSecond = 'updates per CPU second';
const perSocket = 'bytes per socket';
const perSubscription = 'bytes per subscription';
const tasksPerSocket = 10;

/** The WebSockets of the task gateway. Every socket must get every update, in order. */
export const benchmark: Benchmark = {
  number: 14,
  name: 'task-updates',
  mostRuns: 3,
  work: 'one task, 1,000 WebSockets of the task gateway; memory of 10 subscriptions each',
  goals: [
    { ratio: 'baton / bare-ws (updates per CPU second)', atLeast: 0.5 },
    { ratio: 'bytes per subscription', atMost: 2_048 },
  ],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const sockets = short ? 100 : 1_000;
  const pace = { count: short ? 10 : 100, everyMs: short ? 20 : 100 };
  const contenders = { baton: startTaskGateway, 'bare-ws': startBareWs };

  await alternate(['baton', 'bare-ws'], runs, async (contender) => {
    const [load, server] = await Promise.all([startLoad(), contenders[contender]()]);
    const url = await server.ask('url');
    // Once with a tenth, so that what all sockets share is there and the code is warm.
    const watch = async (taskId: string, count: number) => {
      await server.ask('submit', taskId);
      await load.ask('watchTasks', { url, sockets: count, tasks: [taskId], count: pace.count });
      const cpu = await server.ask('cpu');
      await Promise.all([server.ask('produce', pace), load.ask('watchedTasks')]);
      return (await server.ask('cpu')) - cpu;
    };
    if (contender === 'baton') {
      await watch('warm', sockets / 10);
      values.add(contender, perCpuSecond, (sockets * pace.count) / ((await watch('task', sockets)) / 1e6));
      await measureMemory();
    } else {
      await watch('task-0', sockets / 10);
      values.add(contender, perCpuSecond, (sockets * pace.count) / ((await watch('task-0', sockets)) / 1e6));
    }
    await Promise.all([load.stop(), server.stop()]);

    async function measureMemory(): Promise<void> {
      const tasks = Array.from({ length: tasksPerSocket }, (_, n) => `held-${n}`);
      for (const taskId of tasks) await server.ask('submit', taskId);
      const before = await server.ask('memory');
      await load.ask('openSockets', { url, sockets });
      const open = await server.ask('memory');
      values.add(contender, perSocket, (open - before) / sockets);
      await load.ask('closeSockets');
      await load.ask('watchTasks', { url, sockets, tasks, count: pace.count });
      const held = await server.ask('memory');
      values.add(contender, perSubscription, (held - open) / (sockets * tasksPerSocket));
      await load.ask('closeSockets');
    }
  });
  return {
    results: values.results,
    ratios: {
      'baton / bare-ws (updates per CPU second)': values.ratio('baton', 'bare-ws', perCpuSecond),
      'bytes per subscription': values.median('baton', perSubscription),
      'bytes per socket': values.median('baton', perSocket),
    },
  };
}
