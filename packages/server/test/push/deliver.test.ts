import type { Fact } from '@batonjs/lifecycle';
import type { Commit, PushConfig } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { scope } from '../../../../test/kit/scope.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { servePushing } from './serve-pushing.ts';
import { quick } from './settings.ts';
import { webhook } from './webhook.ts';

const at = new Date().toISOString();
const written = { format: 1, at } as const;
const queue = 'agent';

/** Facts of a task that a webhook gets one by one. */
const facts: readonly Fact[] = [
  {
    ...written,
    type: 'message-received',
    message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'go' }] },
  },
  { ...written, type: 'task-created', taskId: 't', contextId: 'c' },
  { ...written, type: 'status-changed', status: { state: 'TASK_STATE_WORKING', timestamp: at } },
  { ...written, type: 'status-changed', status: { state: 'TASK_STATE_INPUT_REQUIRED', timestamp: at } },
];

/** A store with a task of these facts and a webhook that got none. */
async function stored(url: string, facts: readonly Fact[], more: Partial<PushConfig> = {}) {
  const store = memoryStore();
  const commit: Commit = {
    scope,
    taskId: 't',
    commitId: 'commit',
    expectedVersion: 0,
    facts,
    head: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      closed: false,
      contextId: 'c',
      version: facts.length,
      statusAt: at,
      statusVersion: facts.length,
      generation: facts.length,
      turn: 1,
      attempt: 1,
    },
  };
  await store.commit(commit);
  const config = { taskId: 't', id: 'w', url };
  await store.putPushConfig({
    scope,
    taskId: 't',
    id: 'w',
    config,
    protocolVersion: '1.0',
    queue,
    cursor: 0,
    ...more,
  });
  const read = () => store.getPushConfig(scope, 't', 'w');
  return { store, read };
}

it('what follows a fact of another format is not delivered either: a newer process delivers all', async () => {
  const hook = await webhook();
  const newer = { ...facts[3]!, format: 99 as never };
  const { store, read } = await stored(hook.url(), [...facts.slice(0, 3), newer]);
  servePushing(store);
  await eventually(async () => expect((await read())?.retryAt).toBeDefined());
  expect([hook.received.length, (await read())?.cursor]).toEqual([0, 0]);
});

it('failed attempts are counted per update: a new one begins with none', async () => {
  const hook = await webhook((_, before) => (before === 0 || before >= 2 ? 503 : 200));
  const { store, read } = await stored(hook.url(), facts);
  // Attempts: the first update fails and arrives, then the second one fails.
  servePushing(store, { ...quick, retry: { maxAttempts: 2 } });
  await eventually(async () => expect((await read())?.dead).toBeDefined());
  expect((await read())?.dead).toBe('answered 503, 2 attempts');
  expect(hook.received.map(({ id }) => id)).toEqual(
    [0, 0, 1, 1].map((update) => hook.received[update * 2]?.id),
  );
  expect((await read())?.cursor).toBe(3);
});
