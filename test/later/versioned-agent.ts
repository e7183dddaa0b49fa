import { type AgentServerOptions, completed, working } from '@batonjs/server';
import { frequentPolls } from '../kit/frequent-polls.ts';

/** An agent that says which version began its turn, waits, and says which one ended it. */
export const versioned = (
  version: string,
  wait: (taskId: string) => Promise<unknown> = async () => {},
): Omit<AgentServerOptions, 'store'> => ({
  card: { name: 'Test', description: 'For tests' },
  version: { name: version, deploys: 'pinned' },
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  clock: frequentPolls(100),
  async *agent({ taskId }) {
    yield working(`tried by ${version}`);
    await wait(taskId);
    yield completed(`done by ${version}`);
  },
});
