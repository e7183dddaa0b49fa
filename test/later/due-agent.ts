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

/** How long things take, in milliseconds where nothing else is said. */
export interface Pace {
  readonly stepMs: number;
  /** Until a timer; half of it until an answer. */
  readonly waitMs: number;
  /** How long a task waits for an answer at most. */
  readonly deadlineMs: number;
  readonly leaseMs: number;
  /** The time of one run, and how many tasks it works on at once. */
  readonly forMs: number;
  readonly turns: number;
  /** The life of a process, more or less a quarter. */
  readonly lifeMs: number;
  /** How often the schedule has a task, in seconds: a part of a minute. */
  readonly everyS: number;
}

export const paces = {
  seconds: {
    ...{ stepMs: 100, waitMs: 500, deadlineMs: 20_000, leaseMs: 1_500 },
    ...{ forMs: 1_200, turns: 8, lifeMs: 1_500, everyS: 2 },
  },
  /** Tasks of a minute, in processes that live 20 s. */
  minutes: {
    ...{ stepMs: 3_000, waitMs: 40_000, deadlineMs: 60_000, leaseMs: 5_000 },
    ...{ forMs: 15_000, turns: 200, lifeMs: 20_000, everyS: 10 },
  },
} as const satisfies Readonly<Record<string, Pace>>;

const shared = {
  run: 'due',
  restart: { maxAttempts: 1_000 },
  retry: { retries: 0, steps: { retries: 2, backoff: { initialMs: 50 } } },
  messages: { idempotency: true },
  push: { allow: ['127.0.0.1'], http: true },
  logger: () => {},
} as const;

/**
 * An agent with steps that are written to a file as they begin and return, and the one that it calls. The second of its
 * steps fails at first. Both work only during calls.
 */
export function dueServers(
  journal: string,
  store: TaskStore,
  { stepMs, waitMs, deadlineMs, leaseMs, turns, everyS }: Pace,
): readonly [AgentServer, AgentServer] {
  const timeouts = { leaseMs, interruptedMs: deadlineMs };
  const limits = { turns };
  const note = (...words: readonly string[]) =>
    appendFileSync(journal, `${[process.pid, ...words].join(' ')}\n`);
  const child = createAgentServer({
    ...shared,
    ...{ timeouts, limits, store, name: 'child' },
    card: { name: 'Child', description: 'Is called' },
    agent: taskAgent(async function* ({ step, woken, wakeAt }) {
      await step(woken ? 'y' : 'x', () => sleep(stepMs));
      if (woken) return yield completed();
      await wakeAt(new Date(Date.now() + waitMs));
      yield working();
    }),
  });
  const parent = nestedTasks({
    card: { name: 'Due', description: 'Works only during calls' },
    agents: { child },
    async *agent({ step, taskId, woken, wakeAt, text, messages, metadata, call }) {
      const noted = async (name: string) => {
        await step(name, async ({ attempt }) => {
          note(taskId, name, 'begins');
          await sleep(stepMs);
          if (name === 'b' && attempt === 1) throw new Error('not yet');
        });
        note(taskId, name, 'returned');
      };
      if (text === 'scheduled') {
        await step('note', () =>
          note('schedule', (metadata.schedule as { dueAt: string }).dueAt, taskId, `${Date.now()}`),
        );
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
        await wakeAt(new Date(Date.now() + waitMs));
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
    ...{ timeouts, limits, store },
    schedules: recurring([often]),
  });
  return [server, child];
}
