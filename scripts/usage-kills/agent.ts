/**
 * One process of an agent that calls a model and other agents: the top of a tree, or its middle. Each call of the model has
 * a name of its own in the ledger of the provider, and its step keeps it.
 */

import { extend, taskUsage } from '@batonjs/extensions';
import { CallError, nestedTasks } from '@batonjs/nested-tasks';
import { completed, createAgentServer, type Turn } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import type { Bill, Billed } from './provider.ts';

const { ROLE, PORT, DATABASE, PROVIDER, BELOW } = process.env as Record<string, string>;
const isTop = ROLE === 'top';

async function ask(turn: Turn, root: string, name: string): Promise<void> {
  const usage = ({ tokens, millionths, currency }: Bill) => ({
    ...{ model: 'fake', inputTokens: tokens, cost: millionths / 1_000_000, currency },
  });
  await turn.step(name, { usage }, async (): Promise<Bill> => {
    const asked: Billed = { root, agent: ROLE!, taskId: turn.taskId, pid: process.pid };
    const reply = await fetch(PROVIDER!, {
      method: 'POST',
      body: JSON.stringify(asked),
      signal: turn.signal,
    });
    return reply.json();
  });
}

const nested = nestedTasks({
  card: { name: ROLE!, description: 'Calls a model, and others' },
  unreachableMs: 120_000,
  async *agent(turn) {
    const root = turn.text;
    await ask(turn, root, 'first');
    for (const name of isTop ? ['one', 'two'] : ['below'])
      await turn.call(BELOW!, root, { name }).catch((error: unknown) => {
        // It is not known whether the other agent has it: its log says so.
        if (!CallError.is(error)) throw error;
      });
    await ask(turn, root, 'last');
    yield completed();
  },
});
const server = createAgentServer({
  ...nested,
  ...extend(nested, taskUsage),
  name: ROLE!,
  store: sqliteStore(DATABASE!),
  messages: { idempotency: true },
  restart: { maxAttempts: 10_000 },
  limits: { dailyCost: { USD: 1e9 } },
  timeouts: { leaseMs: 700, blockingMs: 60_000 },
  logger: () => {},
});
await listen(server, { port: Number(PORT) });
console.log('Listening');
