import type { KeptTasks } from './contenders/baton/kept-tasks.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { round, Values } from './harness/measure.ts';
import { Worker } from './harness/worker.ts';

const bytes = 'bytes per finished task';
const growth = 'bytes per finished task, most / fewest';
const bound = 'bytes held / bound of the store';
const p99 = 'p99 of sends in ms while 200,000 are kept';
const stall = 'longest stall in ms while 200,000 are kept';
const busiest = 'longest turn of the event loop in CPU ms';
const pause = 'longest pause of the collector in ms';
const cpu = 'µs CPU per send';

/** What the memory store keeps of tasks that have ended, and how sends fare while it keeps many of them. */
export const benchmark: Benchmark = {
  number: 20,
  name: 'memory-per-task',
  work: 'finished tasks of 7 facts and 300 bytes of content, kept by the memory store',
  goals: [
    { ratio: bytes, atMost: 2_500 },
    { ratio: growth, atMost: 1.25 },
    { ratio: bound, atMost: 1.1 },
    { ratio: p99, atMost: 50 },
    // Other work on the machine does not count.
    { ratio: busiest, atMost: 50 },
  ],
  growth: [
    { ratio: bytes, atMost: 3_000 },
    { ratio: growth, atMost: 1.5 },
    { ratio: bound, atMost: 1.3 },
  ],
  run,
};

async function run({ runs, short, size = 200_000 }: RunOptions): Promise<Measured> {
  const values = new Values();
  const few = short ? 1_000 : 10_000;
  const most = short ? 4_000 : size;
  const unitOf = (tasks: number) => `bytes per finished task, ${tasks} kept`;

  for (let n = 0; n < runs; n++) {
    const worker = await Worker.start<KeptTasks>('contenders/baton/kept-tasks.ts', {}, ['--expose-gc']);
    await worker.ask('sends', few);
    const before = await worker.ask('memory');
    let kept = 0;
    let longest = 0;
    for (const tasks of [few, most]) {
      const grown = await worker.ask('sends', tasks - kept);
      kept = tasks;
      values.add('baton', unitOf(tasks), ((await worker.ask('memory')) - before) / tasks);
      values.add('baton', `${cpu}, up to ${tasks} kept`, grown.cpu);
      longest = Math.max(longest, grown.busiest);
      values.add('baton', `${stall.replace('200,000', `up to ${tasks}`)}`, grown.stall);
    }
    const measured = await worker.ask('sends', few);
    values.add('baton', p99, measured.p99);
    values.add('baton', stall, measured.stall);
    values.add('baton', busiest, Math.max(longest, measured.busiest));
    values.add('baton', pause, measured.pause);
    values.add('baton', `${cpu}, ${most} kept`, measured.cpu);
    await worker.stop();
  }
  // Three times as many tasks as there is room for.
  const closedBytes = 2_500 * few;
  for (let n = 0; n < runs; n++) {
    const worker = await Worker.start<KeptTasks>('contenders/baton/kept-tasks.ts', { closedBytes }, [
      '--expose-gc',
    ]);
    // What a server takes that is warm and keeps none.
    const warm = await Worker.start<KeptTasks>('contenders/baton/kept-tasks.ts', { closedBytes: 0 }, [
      '--expose-gc',
    ]);
    for (const one of [worker, warm]) await one.ask('sends', 3 * few);
    const held = (await worker.ask('memory')) - (await warm.ask('memory'));
    values.add('baton', bound, held / closedBytes);
    await Promise.all([worker.stop(), warm.stop()]);
  }

  const figure = (unit: string) => round(values.median('baton', unit));
  return {
    results: values.results,
    ratios: {
      [bytes]: figure(unitOf(most)),
      [growth]: round(values.median('baton', unitOf(most)) / values.median('baton', unitOf(few))),
      [bound]: figure(bound),
      [p99]: figure(p99),
      [stall]: figure(stall),
      [busiest]: figure(busiest),
      [pause]: figure(pause),
    },
  };
}
