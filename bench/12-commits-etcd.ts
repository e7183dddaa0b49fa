import type { BareEtcd } from './contenders/bare/bare-etcd.ts';
import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { commitsOfBaton, startBatonStore, withEtcd } from './harness/contender.ts';
import { alternate, Values } from './harness/measure.ts';
import { Worker } from './harness/worker.ts';

/**
 * The commits of blocking sends on a cluster of three members in memory: a disk would be what is measured otherwise. The
 * floor puts the same heads and facts with one comparison, without queue, lists and leases.
 */
export const benchmark: Benchmark = {
  number: 12,
  name: 'commits-etcd',
  work: 'the commits of 4 events, etcd, 64 tasks at a time',
  goals: [
    { ratio: 'commits of the store / bare-etcd', atLeast: 0.6 },
    { ratio: 'commits of the store / bare-etcd, one task at a time', atLeast: 0.6 },
  ],
  run,
};

const commitsPerSend = 4;
const unitOf = (tasks: number) => `commits/s, ${tasks} tasks at a time`;

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const sizes = [
    { tasks: 64, requests: short ? 100 : 2_500 },
    { tasks: 1, requests: short ? 10 : 250 },
  ];

  async function measure(
    contender: 'baton' | 'bare-etcd',
    send: (size: Size) => Promise<number>,
  ): Promise<void> {
    await send({ tasks: 64, requests: short ? 50 : 1_000 });
    for (const size of sizes) {
      const ms = await send(size);
      values.add(contender, unitOf(size.tasks), ((size.requests * commitsPerSend) / ms) * 1_000);
    }
  }

  async function store(etcd: readonly string[]): Promise<void> {
    const worker = await startBatonStore({ store: 'etcd', etcd });
    await measure('baton', async (size) => (await worker.ask('sends', size)).ms);
    await worker.stop();
  }

  async function bare(etcd: readonly string[]): Promise<void> {
    const commits = await commitsOfBaton();
    const floor = await Worker.start<BareEtcd>('contenders/bare/bare-etcd.ts', { etcd, commits });
    await measure('bare-etcd', (size) => floor.ask('sends', size));
    await floor.stop();
  }

  const contenders = { store, bare };
  await withEtcd((etcd) => alternate(['store', 'bare'], runs, (name) => contenders[name](etcd)));
  return {
    results: values.results,
    ratios: {
      'commits of the store / bare-etcd': values.ratio('baton', 'bare-etcd', unitOf(64)),
      'commits of the store / bare-etcd, one task at a time': values.ratio('baton', 'bare-etcd', unitOf(1)),
    },
  };
}

interface Size {
  readonly requests: number;
  readonly tasks: number;
}
