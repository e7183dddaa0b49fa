import { type AgentServerOptions, inputRequired, type Turn } from '@batonjs/server';
import { frequentPolls } from '../kit/frequent-polls.ts';

/** An agent whose tasks wait for an answer. */
export const asking: Omit<AgentServerOptions, 'store'> = {
  card: { name: 'Test', description: 'For tests' },
  timeouts: {
    leaseMs: 10_000,
    // A busy machine gets its time.
    storeMs: 60_000,
  },
  clock: frequentPolls(100),
  logger: () => {},
  async *agent(_: Turn) {
    yield { ...inputRequired('What?'), labels: ['asks'] };
  },
};
