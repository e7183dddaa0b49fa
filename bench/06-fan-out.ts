import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareSse, startBaton, startLoad } from './harness/contender.ts';
import { alternate, Values } from './harness/measure.ts';

const perCpuSecond = 'events per CPU second';
const perFollower = 'bytes per follower';

/** One task, many streams on it. Every follower must get every event, in order. */
export const benchmark: Benchmark = {
  number: 6,
  name: 'fan-out',
  mostRuns: 3,
  work: 'one producer, 1,000 followers over SSE, 10 events/s, Express, memory store',
  goals: [
    { ratio: 'baton / bare-sse (events per CPU second)', atLeast: 0.5 },
    { ratio: 'baton / bare-sse (bytes per follower)', atMost: 1.3 },
  ],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const followers = short ? 100 : 1_000;
  const count = short ? 10 : 100;
  const everyMs = 100;

  const contenders = {
    async baton() {
      const server = await startBaton({ store: 'memory', http: 'express' });
      return { server, produce: () => server.ask('start') };
    },
    async 'bare-sse'() {
      const server = await startBareSse();
      return { server, produce: () => server.ask('produce', { count, everyMs }) };
    },
  };

  await alternate(['baton', 'bare-sse'], runs, async (contender) => {
    const load = await startLoad();
    const { server, produce } = await contenders[contender]();
    const url = await server.ask('url');
    const begin = async () =>
      contender === 'baton' ? load.ask('begin', { url, text: `ticks ${count} ${everyMs}` }) : '';

    // Once with a tenth, so that what all followers share is there and the code is warm.
    await load.ask('follow', { url, taskId: await begin(), followers: followers / 10, count });
    await Promise.all([produce(), load.ask('followed')]);

    const taskId = await begin();
    const before = await server.ask('memory');
    await load.ask('follow', { url, taskId, followers, count });
    values.add(contender, perFollower, ((await server.ask('memory')) - before) / followers);
    const cpu = await server.ask('cpu');
    await Promise.all([produce(), load.ask('followed')]);
    values.add(contender, perCpuSecond, (followers * count) / (((await server.ask('cpu')) - cpu) / 1e6));
    await Promise.all([load.stop(), server.stop()]);
  });
  return {
    results: values.results,
    ratios: {
      'baton / bare-sse (events per CPU second)': values.ratio('baton', 'bare-sse', perCpuSecond),
      'baton / bare-sse (bytes per follower)': values.ratio('baton', 'bare-sse', perFollower),
    },
  };
}
