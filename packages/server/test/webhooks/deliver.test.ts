import type { Fact } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { eventually } from '../../../../test/kit/until.ts';
import { push } from './kit/push-config.ts';
import { servePushing } from './kit/serve-pushing.ts';
import { quick } from './kit/settings.ts';
import { at, keep, received, status } from './kit/stored-task.ts';
import { webhook } from './kit/webhook.ts';

const queue = 'agent';

/** Facts of a task that a webhook gets one by one. New ones: of old ones no attempt is made again. */
const facts: readonly Fact[] = [
  received,
  { format: 1, at, type: 'task-created', taskId: 't', contextId: 'c' } as const,
  status(),
  status('INPUT_REQUIRED'),
].map((fact) => ({ ...fact, at: new Date().toISOString() }));

/** A store with a task of these facts and a webhook that got none. */
async function stored(url: string, facts: readonly Fact[]) {
  const store = memoryStore();
  await keep(store, facts, [push(url, 'w', { queue, cursor: 0 })]);
  return { store, read: () => store.getPushConfig('s', 't', 'w') };
}

it('what follows a fact of another format is not delivered either: a newer process delivers all', async () => {
  const hook = await webhook();
  const newer = { ...facts[3]!, format: 99 as never };
  const { store, read } = await stored(hook.url(), [...facts.slice(0, 3), newer]);
  servePushing(store);
  await eventually(async () => expect((await read())?.retryAt).toBeDefined());
  expect([hook.received.length, (await read())?.cursor]).toEqual([0, 0]);
});

it('facts of an older format are delivered', async () => {
  const hook = await webhook();
  const { store, read } = await stored(
    hook.url(),
    facts.map((fact) => ({ ...fact, format: 0 as never })),
  );
  servePushing(store);
  await eventually(async () => expect((await read())?.cursor).toBe(4));
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
