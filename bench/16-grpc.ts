import type { Benchmark, Measured, RunOptions } from './harness/benchmark.ts';
import { startGrpcBaton, startGrpcFloor, startGrpcOfficialSdk, startLoad } from './harness/contender.ts';
import { alternate, Values } from './harness/measure.ts';
import type { GrpcWork } from './load/grpc.ts';

const works = ['GetTask', 'SendMessage', 'streamed event'] as const;
const followed = 'followed event';

const perWork = (work: string) => `µs CPU per ${work}`;
const overFloor = (work: string) => `baton / grpc-js (CPU per ${work})`;
const overSdk = (work: string) => `baton / official-sdk (${work}s per CPU second)`;

/**
 * Calls over gRPC in plaintext, 16 at a time on one connection; streams of 200 chunks that are made for them, four at a
 * time; and many streams on one task, with an event every few milliseconds. The floor answers the bytes that Baton
 * answered, without tasks behind them.
 */
export const benchmark: Benchmark = {
  number: 16,
  name: 'grpc',
  mostRuns: 3,
  work: 'GetTask, SendMessage and streams over gRPC, 100 followers of one task, memory store',
  goals: [
    { ratio: overFloor('GetTask'), atMost: 1.6 },
    { ratio: overFloor(followed), atMost: 1.6 },
    ...works.map((work) => ({ ratio: overSdk(work), atLeast: 2 })),
  ],
  run,
};

async function run({ runs, short }: RunOptions): Promise<Measured> {
  const values = new Values();
  const counts: Record<GrpcWork['work'], number> = short
    ? { GetTask: 200, SendMessage: 100, 'streamed event': 4 }
    : { GetTask: 40_000, SendMessage: 10_000, 'streamed event': 200 };
  const chunks = 200;
  const followers = short ? 10 : 100;
  const ticks = short ? 10 : 400;
  const everyMs = 5;

  const contenders = {
    async baton() {
      const server = await startGrpcBaton();
      const address = await server.ask('address');
      const begin = (load: Load) => load.ask('grpcBegin', { address, text: `ticks ${ticks} ${everyMs}` });
      return { ...measured(server), address, does: works, begin, produce: () => server.ask('start') };
    },
    async 'official-sdk'() {
      const server = await startGrpcOfficialSdk();
      return { ...measured(server), address: await server.ask('address'), does: works, begin: undefined };
    },
    async 'grpc-js'() {
      const server = await startGrpcFloor(samples);
      const does = ['GetTask'] as const;
      const begin = async () => 'any';
      const address = await server.ask('address');
      return { ...measured(server), address, does, begin, produce: () => server.ask('produce', everyMs) };
    },
  };

  const recorder = await startLoad();
  const { stop, address: there, begin: first, produce: go } = await contenders.baton();
  await recorder.ask('grpcFollow', { address: there, id: await first(recorder), followers: 1 });
  await Promise.all([go(), recorder.ask('grpcFollowed')]);
  const samples = await recorder.ask('grpcSamples', { address: there });
  await Promise.all([recorder.stop(), stop()]);

  await alternate(['baton', 'grpc-js', 'official-sdk'], runs, async (name) => {
    const [contender, load] = await Promise.all([contenders[name](), startLoad()]);
    const { cpu, address, does } = contender;
    for (const work of does) {
      const asked = { address, work, chunks };
      await load.ask('grpc', { ...asked, count: Math.ceil(counts[work] / 4) });
      const before = await cpu();
      const done = await load.ask('grpc', { ...asked, count: counts[work] });
      values.add(name, perWork(work), ((await cpu()) - before) / done);
    }
    if (contender.begin) {
      // Once with a tenth of the followers, so that the code is warm.
      for (const count of [followers / 10, followers]) {
        await load.ask('grpcFollow', { address, id: await contender.begin(load), followers: count });
        const before = await cpu();
        const [done] = await Promise.all([load.ask('grpcFollowed'), contender.produce()]);
        if (count === followers) values.add(name, perWork(followed), ((await cpu()) - before) / done);
      }
    }
    await Promise.all([load.stop(), contender.stop()]);
  });

  const ratios: Record<string, number> = {};
  for (const work of ['GetTask', followed])
    ratios[overFloor(work)] = values.ratio('baton', 'grpc-js', perWork(work));
  // Fewer microseconds for each are more in a second.
  for (const work of works) ratios[overSdk(work)] = values.ratio('official-sdk', 'baton', perWork(work));
  return { results: values.results, ratios };
}

/** What every contender is measured by, whatever else its process answers. */
const measured = (server: { ask(name: 'cpu'): Promise<number>; stop(): Promise<void> }) => ({
  cpu: () => server.ask('cpu'),
  stop: () => server.stop(),
});

type Load = Awaited<ReturnType<typeof startLoad>>;
