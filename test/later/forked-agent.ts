import { appendFileSync } from 'node:fs';
import { type AgentServerOptions, completed, failed } from '@batonjs/server';
import { frequentPolls } from '../kit/frequent-polls.ts';

/** An agent of three steps, which writes into a file what it did. The second one fails the task, unless it is fixed. */
export const stepping = (
  journal: string,
  isFixed: boolean,
  inThird: (taskId: string) => Promise<unknown> = async () => {},
): Omit<AgentServerOptions, 'store'> => ({
  card: { name: 'Test', description: 'For tests' },
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  clock: frequentPolls(100),
  logger: () => {},
  async *agent({ step, taskId }) {
    const note = (name: string) => appendFileSync(journal, `${name}\n`);
    await step('one', () => note('one'));
    await step('two', () => note('two'));
    if (!isFixed) yield failed('Broken');
    await step('three', async () => {
      note('three');
      await inThird(taskId);
    });
    yield completed('done');
  },
});
