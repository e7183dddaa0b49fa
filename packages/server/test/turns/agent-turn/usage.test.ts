import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fact, type Head, replay } from '@batonjs/lifecycle';
import { dailyUsage, forkTask } from '@batonjs/operator';
import type { Task } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { checkLog } from '@batonjs/store/rules';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say, stream } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../../test/kit/until.ts';
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

it('has all that a task cost in its row, also after a turn of an older release', async () => {
  const store = closedAfterTest(memoryStore());
  const older = change(store, {
    commit: (commit) => (one) => {
      const { costs: _, ...head } = one.head ?? ({} as Partial<Head>);
      return commit({ ...one, head: one.head && (head as Head) });
    },
  });
  const agent: Agent = async function* (turn) {
    await turn.usage('call', { ...used, cost: 0.25, currency: 'EUR' });
    yield turn.text === 'more' ? inputRequired('More?') : completed();
  };
  const [first, second] = [older, store].map((each) => serve(agent, { store: each }));
  const costs = async () => (await store.list(scope, { limit: 9 })).tasks.map(({ head }) => head.costs);
  const { task } = await send(first!, 'more');
  expect(await costs()).toEqual([undefined]);
  await first!.close();
  await send(second!, 'more', task.id);
  expect(await costs()).toEqual([{ EUR: 500_000 }]);
  await send(second!, 'done', task.id);
  await second!.close();
  expect(await costs()).toEqual([{ EUR: 750_000 }]);
  const { head, ...log } = (await store.load(scope, task.id))!;
  const facts = await store.readFacts(scope, task.id, 0, 99);
  for (const costs of [head.costs, undefined])
    expect([...checkLog({ ...log, facts, head: { ...head, costs, keepMs: 5 } as Head })]).toEqual([]);
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
          { text: 'The models of this agent have used the tokens that it allows one task' },
          {
            data: {
              code: 'RESOURCE_EXHAUSTED',
              details: { reason: 'BUDGET_EXCEEDED', limit: 'tokensPerTask' },
            },
          },
        ],
      },
    });
    expect(calls).toBe(4);
    // Another task has its own.
    expect((await send(second!, 'once')).task.status.state).toBe('TASK_STATE_COMPLETED');
  },
);

it.each([
  ['its server closes and waits for it', { graceMs: 60_000 }, [10, 10], 1],
  ['its server closes at once, and another one calls again', { graceMs: 0 }, [10, 20], 2],
  ['its client leaves', undefined, [10, 10], 1],
])('a call that is under way while %s counts, and in its task once', async (_, closing, sums, times) => {
  const store = closedAfterTest(memoryStore());
  const [reached, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  const agent: Agent = async function* (turn) {
    await turn.step('ask', { usage: () => used }, () => {
      calls++;
      reached.resolve();
      return answered.promise;
    });
    yield completed();
  };
  const options = { store, restart: 'rerun', limits: { dailyTokens: 1e9 } } as const;
  const first = serve(agent, options);
  const sent = stream(first, 'SendStreamingMessage', { message: say('go') });
  const { task } = (await sent.next()).value.event as { readonly task: Task };
  await reached.promise;
  await sent.return(undefined);
  const closed = closing && first.close(closing);
  if (closing?.graceMs === 0) await closed;
  answered.resolve();
  await closed;
  const server = closing ? serve(agent, options) : first;
  await until(server, task.id, 'COMPLETED');
  await eventually(async () => {
    const [day] = await dailyUsage(store, 'agent');
    expect([replay(await logOf(store, task.id))?.tokens, day?.tokens]).toEqual(sums);
  });
  expect(calls).toBe(times);
});

it('keeps nothing of a usage but what it is: a secret beside it is in no fact and no record', async () => {
  const store = closedAfterTest(memoryStore());
  const secret = { headers: { authorization: 'Bearer sk-secret' }, url: 'https://x/?key=sk-secret' };
  const agent: Agent = async function* (turn) {
    await turn.step('ask', { usage: () => ({ ...used, ...secret }) }, () => 1);
    await turn.usage('told', { ...used, ...secret });
    yield completed();
  };
  const { task } = await send(
    serve(agent, { store, limits: { dailyTokens: 99, tokensPerContext: 99 } }),
    'go',
  );
  const stored = [await logOf(store, task.id), await store.listRecords({ limit: 99 })];
  expect(JSON.stringify(stored)).toContain('"inputTokens":14');
  expect(JSON.stringify(stored)).not.toContain('secret');
});

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
