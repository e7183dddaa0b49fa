import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fact, replay } from '@batonjs/lifecycle';
import { forkTask } from '@batonjs/operator';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired } from '../../../src/index.ts';

const used = { model: 'small', inputTokens: 7, outputTokens: 3, cachedTokens: 5 };
const send = (server: ReturnType<typeof serve>, text: string, taskId?: string) =>
  rpc(server, 'SendMessage', { message: { ...say(text), ...(taskId && { taskId }) } });

async function logOf(store: TaskStore, taskId: string): Promise<Fact[]> {
  return (await store.readFacts(scope, taskId, 0, 999)).map(({ fact }) => fact);
}

it('counts a call once, however often its turn runs again, and a fork counts none of it', async () => {
  const store = closedAfterTest(memoryStore());
  let calls = 0;
  const agent: Agent = async function* (turn) {
    await turn.step('ask', { usage: () => used }, () => ++calls);
    await turn.usage('told', { model: 'large', calls: 2, outputTokens: 100 });
    if (turn.attempt < 3) throw new Error('Again');
    yield turn.text === 'ask' ? inputRequired('Well?') : completed();
  };
  const server = serve(agent, { store, restart: 'rerun', retry: { retries: 2, backoff: { initialMs: 1 } } });
  const { task } = await send(server, 'ask');
  const facts = await logOf(store, task.id);
  const usages = facts.flatMap((fact) => (fact.type === 'step-completed' ? [fact.usage] : []));
  expect(usages).toEqual([used, { model: 'large', calls: 2, outputTokens: 100 }]);
  expect(calls).toBe(1);
  expect(replay(facts)?.tokens).toBe(110);
  const fork = await forkTask(server, task.id, { from: 'ask' });
  expect(replay(await logOf(store, fork))?.tokens).toBeUndefined();
});

it.each(['memory', 'SQLite'])(
  'stops a task that has used its tokens before the next call, on %s',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-usage-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const store = closedAfterTest(
      kind === 'memory' ? memoryStore() : sqliteStore(join(folder, `${randomUUID()}.db`)),
    );
    let calls = 0;
    const agent: Agent = async function* (turn) {
      await turn.step('other', () => 'is no call');
      for (const n of [1, 2]) await turn.step(`ask ${n}`, { usage: () => used, retries: 3 }, () => ++calls);
      yield turn.text === 'more' ? inputRequired('More?') : completed();
    };
    // The second one goes on with the task of the first one.
    const [first, second] = [1, 2].map(() => serve(agent, { store, limits: { tokensPerTask: 31 } }));
    const { task } = await send(first!, 'more');
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await send(second!, 'more', task.id)).task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { task: over } = await send(first!, 'more', task.id);
    expect(over.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: {
        parts: [
          { text: 'The task has used the tokens that this server allows it' },
          { data: { code: 'RESOURCE_EXHAUSTED' } },
        ],
      },
    });
    expect(calls).toBe(4);
    // Another task has its own.
    expect((await send(second!, 'once')).task.status.state).toBe('TASK_STATE_COMPLETED');
  },
);

it('refuses a usage that no call can have', async () => {
  const wrong: object[] = [
    { model: '' },
    { model: 'x'.repeat(129) },
    { model: 5 },
    ...['calls', 'inputTokens', 'outputTokens', 'cachedTokens'].flatMap((name) =>
      [-1, 1.5, Number.NaN, 1e13, '5'].map((count) => ({ model: 'a', [name]: count })),
    ),
    ...[-1, Number.NaN, 1e9 + 1, Number.POSITIVE_INFINITY, '5', undefined].map((cost) => ({
      ...used,
      cost,
      currency: 'USD',
    })),
    ...['usd', 'USDT', '', undefined, 5].map((currency) => ({ ...used, cost: 1, currency })),
  ];
  const refused: unknown[] = [];
  const server = serve(async function* (turn) {
    for (const [n, usage] of wrong.entries())
      await turn.usage(`${n}`, usage as never).catch((error: unknown) => refused.push(error));
    await turn
      .step('ask', { usage: () => ({ model: '' }) }, () => 1)
      .catch((error: unknown) => refused.push(error));
    yield completed();
  });
  await send(server, 'go');
  expect(refused).toEqual([...wrong, 1].map(() => expect.any(TypeError)));
});
