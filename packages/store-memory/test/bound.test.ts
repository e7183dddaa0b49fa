import { headOf } from '@batonjs/lifecycle';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../src/index.ts';

const message = (text: string) => ({ messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text }] });

interface Added {
  readonly isOpen?: boolean;
  /** When all of it happened, in milliseconds since 1970. */
  readonly ms?: number;
  readonly unlessDeleted?: boolean;
}

/** Adds a log with so much text, which ends unless it is to stay open. */
async function add(
  store: TaskStore,
  taskId: string,
  characters: number,
  { isOpen = false, ms = 0, unlessDeleted = false }: Added = {},
): Promise<void> {
  const at = new Date(ms).toISOString();
  const text = 'x'.repeat(characters);
  const facts = [
    { format: 1, at, type: 'message-received', message: { ...message(text), role: 'ROLE_USER' } },
    ...(isOpen ? [] : [{ format: 1, at, type: 'answered', message: message('Yes') } as const]),
  ] as const;
  let head: ReturnType<typeof headOf> | undefined;
  for (const fact of facts) head = headOf(head, fact);
  const commit = { scope: 's', taskId, commitId: taskId, expectedVersion: 0, facts, head, once: 'm' };
  await store.commit({ ...commit, unlessDeleted });
}

const kept = async (store: TaskStore): Promise<string[]> => {
  const { tasks } = await store.list('s', { limit: 1_000, answered: true });
  return tasks.map(({ taskId }) => taskId).toSorted();
};

const push = (taskId: string): Parameters<PushConfigStore['putPushConfig']>[0] => ({
  scope: 's',
  taskId,
  id: 'w',
  config: { id: 'w', taskId, url: 'https://example.com' },
  protocolVersion: '1.0',
  queue: 'q',
  cursor: 0,
});

describe('a memory store with a bound', () => {
  it('deletes the tasks that ended first, and keeps open ones', async () => {
    const store = memoryStore({ closedBytes: 40_000 });
    await add(store, 'open', 60_000, { isOpen: true });
    for (const taskId of ['a', 'b', 'c', 'd']) await add(store, taskId, 10_000);
    expect(await kept(store)).toEqual(['b', 'c', 'd', 'open']);
    await add(store, 'e', 20_000);
    expect(await kept(store)).toEqual(['d', 'e', 'open']);
    // A deleted log is gone with its keys: one of the same id is another log.
    await add(store, 'a', 1);
    expect((await store.load('s', 'a'))?.version).toBe(2);
  });

  it('keeps the task that ended last, whatever its size', async () => {
    const store = memoryStore({ closedBytes: 40_000 });
    await add(store, 'large', 100_000);
    expect(await kept(store)).toEqual(['large']);
    await add(store, 'small', 1);
    expect(await kept(store)).toEqual(['small']);
  });

  it('keeps tasks whose webhooks have not heard of their end', async () => {
    const store = memoryStore({ closedBytes: 40_000 });
    await store.putPushConfig(push('a'));
    for (const taskId of ['a', 'b', 'c', 'd', 'e']) await add(store, taskId, 10_000);
    expect(await kept(store)).toEqual(['a', 'd', 'e']);
    const [delivery] = await store.claimDeliveries({ queue: 'q', holder: 'h', ttlMs: 1_000, limit: 1 });
    await store.advance(delivery!, { cursor: 2 });
    await add(store, 'f', 10_000);
    expect(await kept(store)).toEqual(['d', 'e', 'f']);
  });

  it.each<[string, number]>([
    ['made room', 1],
    ['were pruned', 1e9],
  ])('remembers of the last 20,000 tasks that %s that they were there', async (_, closedBytes) => {
    const store = memoryStore({ closedBytes });
    const prune = () => store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 99_999 });
    const again = (taskId: string) => add(store, taskId, 1, { unlessDeleted: true });
    await add(store, 'first', 1);
    await add(store, 'second', 1);
    expect(await kept(store)).toEqual(closedBytes === 1 ? ['second'] : ['first', 'second']);
    await prune();
    await expect(again('first')).rejects.toMatchObject({ code: 'LOG_DELETED' });
    await expect(store.readFacts('s', 'first', 2, 9, 'first')).rejects.toMatchObject({ code: 'LOG_DELETED' });
    for (let n = 0; n < 19_999; n++) await add(store, `t${n}`, 1);
    await prune();
    await expect(again('second')).rejects.toMatchObject({ code: 'LOG_DELETED' });
    await again('first');
    expect((await store.load('s', 'first'))?.version).toBe(2);
  });

  it('counts what prune deletes no more', async () => {
    const store = memoryStore({ closedBytes: 40_000 });
    await add(store, 'young', 10_000, { ms: 10 });
    await add(store, 'old', 25_000, { ms: 1 });
    expect(await store.prune({ closedBefore: new Date(5).toISOString(), limit: 9 })).toBe(1);
    await add(store, 'next', 10_000);
    expect(await kept(store)).toEqual(['next', 'young']);
  });
});
