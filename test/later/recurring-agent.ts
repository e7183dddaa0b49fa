import { type AgentServerOptions, completed } from '@batonjs/server';
import { recurring } from '@batonjs/server/schedules';

/** An agent with a task for each second. Those that were missed all start. */
export const recurringOptions = (): Omit<AgentServerOptions, 'store'> => ({
  card: { name: 'Test', description: 'For tests' },
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  schedules: recurring([{ name: 'tick', cron: '* * * * * *', message: 'Tick', missed: 'all' }]),
  async *agent() {
    yield completed();
  },
});
