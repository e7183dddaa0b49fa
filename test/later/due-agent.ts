import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentServerOptions, completed, taskAgent, working } from '@batonjs/server';

/** Steps that are written to a file as they begin. The second of them fails at first; a later turn has the last. */
export const dueOptions = (journal: string) =>
  ({
    card: { name: 'Due', description: 'Works only during calls' },
    agent: taskAgent(async function* ({ step, taskId, woken, wakeAt }) {
      const noted = (name: string) =>
        step(name, async ({ attempt }) => {
          appendFileSync(journal, `${taskId} ${name}\n`);
          await sleep(100);
          if (name === 'b' && attempt === 1) throw new Error('not yet');
        });
      for (const name of woken ? ['d'] : ['a', 'b', 'c']) await noted(name);
      if (woken) return yield completed();
      await wakeAt(new Date(Date.now() + 500));
      yield working();
    }),
    run: 'due',
    restart: { maxAttempts: 20 },
    retry: { retries: 0, steps: { retries: 2, backoff: { initialMs: 50 } } },
    timeouts: { leaseMs: 1_500 },
    limits: { turns: 4 },
    logger: () => {},
  }) as const satisfies Partial<AgentServerOptions>;
