import { importFrom } from '../../engines/installed.ts';
import { options, type Recorded, resultOf, serve, step } from './engine.ts';

interface Backend {
  connect(url: string): Promise<unknown>;
}

type Run = (context: {
  step: { run(options: { name: string }, run: () => Promise<Recorded>): Promise<Recorded> };
}) => Promise<string>;

interface Client {
  defineWorkflow(
    options: { name: string },
    run: Run,
  ): { run(input: object): Promise<{ result(): Promise<string> }> };
  newWorker(options: { concurrency: number }): { start(): Promise<void>; stop(): Promise<void> };
}

if (options.store !== 'postgres') throw new Error('openworkflow needs PostgreSQL');
const { OpenWorkflow } = importFrom<{ OpenWorkflow: new (options: { backend: unknown }) => Client }>(
  options.engines!,
  'openworkflow',
);
const { BackendPostgres } = importFrom<{ BackendPostgres: Backend }>(
  options.engines!,
  'openworkflow/postgres',
);
const client = new OpenWorkflow({ backend: await BackendPostgres.connect(`${options.postgres}?max=20`) });
const task = client.defineWorkflow({ name: 'task' }, async ({ step: steps }) => {
  const one = await steps.run({ name: 'one' }, () => step());
  const two = await steps.run({ name: 'two' }, () => step(one));
  return resultOf(await steps.run({ name: 'three' }, () => step(two)));
});
let worker: ReturnType<Client['newWorker']> | undefined;

serve({
  run: async () => (await task.run({})).result(),
  // Each free place of a worker asks for work: no more places than tasks.
  async prepare(concurrency) {
    await worker?.stop();
    worker = client.newWorker({ concurrency });
    await worker.start();
  },
});
