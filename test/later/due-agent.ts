import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { nestedTasks } from '@batonjs/nested-tasks';
import {
  type AgentServer,
  completed,
  createAgentServer,
  inputRequired,
  taskAgent,
  working,
} from '@batonjs/server';
import { recurring } from '@batonjs/server/schedules';
import type { TaskStore } from '@batonjs/store';

/** The kinds of tasks, by the text of their first message. No answer comes to the last one. */
export const kinds = ['timer', 'ask', 'call', 'silent'] as const;

/** How often the schedule has a task, in seconds. */
export const everyS = 2;

const shared = {
  run: 'due',
  restart: { maxAttempts: 1_000 },
  retry: { retries: 0, steps: { retries: 2, backoff: { initialMs: 50 } } },
  limits: { turns: 8 },
  messages: { idempotency: true },
  push: { allow: ['127.0.0.1'], http: true },
  logger: () => {},
} as const;

/**
 * An agent with steps that are written to a file as they begin and return, and the one that it calls. The second of its
 * steps fails at first. Both work only during calls.
 */
export function dueServers(journal: string, store: TaskStore): readonly [AgentServer, AgentServer] {
  const timeouts = { leaseMs: 1_500, interruptedMs: 20_000 };
  const note = (...words: readonly string[]) =>
    appendFileSync(journal, `${[process.pid, ...words].join(' ')}\n`);
  const child = createAgentServer({
    ...shared,
    ...{ timeouts, store, name: 'child' },
    card: { name: 'Child', description: 'Is called' },
    agent: taskAgent(async function* ({ step }) {
      for (const name of ['x', 'y']) await step(name, () => sleep(100));
      yield completed();
    }),
  });
  const parent = nestedTasks({
    card: { name: 'Due', description: 'Works only during calls' },
    agents: { child },
    async *agent({ step, taskId, woken, wakeAt, text, messages, metadata, call }) {
      const noted = async (name: string) => {
        await step(name, async ({ attempt }) => {
          note(taskId, name, 'begins');
          await sleep(100);
          if (name === 'b' && attempt === 1) throw new Error('not yet');
        });
        note(taskId, name, 'returned');
      };
      if (text === 'scheduled') {
        await step('note', () => note('schedule', (metadata.schedule as { dueAt: string }).dueAt, taskId));
        return yield completed();
      }
      const isFirst = !woken && messages.length === 1;
      for (const name of isFirst ? ['a', 'b', 'c'] : ['d']) await noted(name);
      if (!isFirst) return yield completed();
      if (text === 'call') {
        const { task } = await call('child', 'go', { name: 'child' });
        await noted('d');
        if (task?.status.state === 'TASK_STATE_COMPLETED') yield completed();
      } else if (text === 'timer') {
        await wakeAt(new Date(Date.now() + 500));
        yield working();
      } else yield inputRequired('Well?');
    },
  });
  const often = {
    name: 'often',
    cron: `*/${everyS} * * * * *`,
    message: 'scheduled',
    missed: 'all',
  } as const;
  const server = createAgentServer({
    ...parent,
    ...shared,
    ...{ timeouts, store },
    schedules: recurring([often]),
  });
  return [server, child];
}
