import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startBareSse, startBaton, startLoad } from './harness/contender.ts';
import { alternate, Values } from './harness/measure.ts';

/** One task with many followers, or many tasks with one each. */
const shapes = ['one task', 'a task each'] as const;
type Shape = (typeof shapes)[number];

const eventsOf = (shape: Shape) => `events per CPU second, ${shape}`;
const bytesOf = (shape: Shape) => `bytes per follower, ${shape}`;
const ratioOf = (unit: string) => `baton / bare-sse (${unit})`;

/**
 * As `fan-out`, with ten times as many followers. A follower's bytes are those that it adds: its task is open before. The
 * floor writes the same events and keeps no tasks.
 */
export const benchmark: Benchmark = {
  number: 21,
  name: 'many-followers',
  mostRuns: 3,
  work: '10,000 followers (`--size`) over SSE of one task, and of a task each, 1 event/s, Express, memory store',
  goals: [
    { ratio: ratioOf(eventsOf('one task')), atLeast: 0.5 },
    ...shapes.map((shape) => ({ ratio: ratioOf(bytesOf(shape)), atMost: 1.3 })),
  ],
  // Few followers share what a server takes anyway.
  growth: shapes.map((shape) => ({ ratio: ratioOf(bytesOf(shape)), atMost: 1.4 })),
  run,
};

async function run({ runs, short, size = 10_000 }: RunOptions): Promise<Measured> {
  const values = new Values();
  // Of fewer followers, what the process itself holds would be half of it.
  const followers = short ? 1_000 : size;
  const count = short ? 3 : 10;
  const everyMs = short ? 100 : 1_000;
  const text = `ticks ${count} ${everyMs}`;

  const contenders = {
    async baton() {
      const server = await startBaton({ store: 'memory', http: 'express' });
      return {
        server,
        begin: (tasks: number) => server.ask('begin', { tasks, text }),
        produce: () => server.ask('start'),
      };
    },
    async 'bare-sse'() {
      const server = await startBareSse();
      return {
        server,
        begin: async (tasks: number) => Array.from({ length: tasks }, () => ''),
        produce: (shape: Shape) => server.ask('produce', { count, everyMs, each: shape === 'a task each' }),
      };
    },
  };

  for (const shape of shapes)
    await alternate(['baton', 'bare-sse'], runs, async (contender) => {
      const load = await startLoad();
      const { server, begin, produce } = await contenders[contender]();
      const url = await server.ask('url');
      const tasksOf = async (streams: number) => {
        const ids = await begin(shape === 'one task' ? 1 : streams);
        return Array.from({ length: streams }, (_, n) => ids[n % ids.length]!);
      };

      // Once with a tenth, so that what all followers share is there and the code is warm.
      await load.ask('followEach', { url, taskIds: await tasksOf(followers / 10), count });
      await Promise.all([produce(shape), load.ask('followed')]);

      const taskIds = await tasksOf(followers);
      const before = await server.ask('memory');
      await load.ask('followEach', { url, taskIds, count });
      values.add(contender, bytesOf(shape), ((await server.ask('memory')) - before) / followers);
      const cpu = await server.ask('cpu');
      await Promise.all([produce(shape), load.ask('followed')]);
      const seconds = ((await server.ask('cpu')) - cpu) / 1e6;
      values.add(contender, eventsOf(shape), (followers * count) / seconds);
      await Promise.all([load.stop(), server.stop()]);
    });

  const units = shapes.flatMap((shape) => [eventsOf(shape), bytesOf(shape)]);
  return {
    results: values.results,
    ratios: Object.fromEntries(units.map((unit) => [ratioOf(unit), values.ratio('baton', 'bare-sse', unit)])),
  };
}
