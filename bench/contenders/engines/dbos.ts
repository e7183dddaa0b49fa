import { importFrom } from '../../engines/installed.ts';
import { options, type Recorded, resultOf, serve, step } from './engine.ts';

interface Handle {
  readonly workflowID: string;
  getResult(options?: { pollingIntervalMs: number }): Promise<string>;
}

interface Dbos {
  setConfig(config: Readonly<Record<string, unknown>>): void;
  registerWorkflow(run: () => Promise<string>, options: { name: string }): () => Promise<string>;
  runStep(run: () => Promise<Recorded>, options: { name: string }): Promise<Recorded>;
  startWorkflow(workflow: () => Promise<string>): () => Promise<Handle>;
  retrieveWorkflow(id: string): Handle;
  launch(): Promise<void>;
}

if (options.store !== 'postgres') throw new Error('DBOS needs PostgreSQL');
const { DBOS } = importFrom<{ DBOS: Dbos }>(options.engines!, '@dbos-inc/dbos-sdk');
DBOS.setConfig({
  name: 'engine',
  systemDatabaseUrl: options.postgres,
  systemDatabasePoolSize: 20,
  runAdminServer: false,
  logLevel: 'error',
});
const task = DBOS.registerWorkflow(
  async () => {
    const one = await DBOS.runStep(() => step(), { name: 'one' });
    const two = await DBOS.runStep(() => step(one), { name: 'two' });
    return resultOf(await DBOS.runStep(() => step(two), { name: 'three' }));
  },
  { name: 'task' },
);
// Takes up the tasks that a process of this name has left.
await DBOS.launch();
const start = () => DBOS.startWorkflow(task)();

serve({
  run: async () => (await start()).getResult(),
  begin: async () => (await start()).workflowID,
  result: (id) => DBOS.retrieveWorkflow(id).getResult({ pollingIntervalMs: 10 }),
});
