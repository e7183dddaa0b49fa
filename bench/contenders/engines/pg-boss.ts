/** A bare queue for comparison: three jobs, each of which sends the next. */
import { importFrom } from '../../engines/installed.ts';
import { options, type Recorded, resultOf, serve, step } from './engine.ts';

interface Data {
  readonly id: string;
  readonly before?: Recorded;
}

interface Boss {
  start(): Promise<unknown>;
  createQueue(name: string, options: { notify: boolean }): Promise<void>;
  send(name: string, data: Data): Promise<string | null>;
  work(
    name: string,
    options: { localConcurrency: number },
    handle: (jobs: readonly { data: Data }[]) => Promise<unknown>,
  ): Promise<string>;
  offWork(name: string): Promise<void>;
}

if (options.store !== 'postgres') throw new Error('pg-boss needs PostgreSQL');
const { PgBoss } = importFrom<{ PgBoss: new (options: object) => Boss }>(options.engines!, 'pg-boss');
const boss = new PgBoss({ connectionString: options.postgres, max: 20, useListenNotify: true });
await boss.start();
const queues = ['one', 'two', 'three'];
for (const name of queues) await boss.createQueue(name, { notify: true });
const waiting = new Map<string, (result: string) => void>();

serve({
  async run() {
    const { promise, resolve } = Promise.withResolvers<string>();
    const id = crypto.randomUUID();
    waiting.set(id, resolve);
    await boss.send('one', { id });
    return promise;
  },
  async prepare(localConcurrency) {
    for (const [n, name] of queues.entries()) {
      await boss.offWork(name);
      await boss.work(name, { localConcurrency }, async ([job]) => {
        const { id, before } = job!.data;
        const recorded = await step(before);
        const next = queues[n + 1];
        if (next) await boss.send(next, { id, before: recorded });
        else {
          // Nobody can await a job: its end is recorded only after this.
          waiting.get(id)!(resultOf(recorded));
          waiting.delete(id);
        }
        return recorded;
      });
    }
  },
});
