import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

/** A store with one shard, the keys of which a client damages. */
async function open() {
  const prefix = `test-${randomUUID()}`;
  const store = closedAfterTest(redisStore({ url: redis!.url, prefix, shards: 1 }));
  const client = await createClient({ url: redis!.url }).connect();
  onTestFinished(() => client.close());
  return { store, client, key: (kind: string, taskId: string) => `${prefix}:{0}:${kind}:${taskId}\0s` };
}

const unreadable = (message: string) => ({ code: 'UNREADABLE', message: expect.stringContaining(message) });

describe.skipIf(!redis)('What is damaged in Redis', () => {
  it('is said, if it is a fact, and lists show its task', async () => {
    const { store, client, key } = await open();
    for (const version of [0, 1, 2]) await store.commit(chunkAfter(version));
    await client.lSet(key('log', 't'), 0, 'no commit and no fact');
    await expect(store.load('s', 't')).rejects.toMatchObject(
      unreadable('The fact at 1 is missing or damaged'),
    );
    await expect(store.readFacts('s', 't', 0, 9)).rejects.toMatchObject(unreadable('The fact at 1'));
    expect(await store.readFacts('s', 't', 1, 9)).toHaveLength(2);
    const { tasks } = await store.list('s', { limit: 9 });
    expect(tasks.map(({ taskId, fact }) => [taskId, fact])).toEqual([['t', undefined]]);
  });

  it('is said, if facts are gone', async () => {
    const { store, client, key } = await open();
    for (const version of [0, 1, 2]) await store.commit(chunkAfter(version));
    await client.lTrim(key('log', 't'), 0, 1);
    await expect(store.load('s', 't')).rejects.toMatchObject(unreadable('3'));
  });

  it('keeps no other task from being claimed, if it is the row of a task', async () => {
    const { store, client, key } = await open();
    for (const taskId of ['a', 'b'])
      await store.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true } }));
    await client.del(key('task', 'a'));
    const claimed = await store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 9 });
    expect(claimed.map(({ taskId }) => taskId)).toEqual(['b']);
  });

  it('ends a prune in the middle of a task, whose deletion is remembered', async () => {
    const { store, client, key } = await open();
    await store.commit(chunkAfter(0, { head: headAt(1, { closed: true }) }));
    await client.set(key('hooks', 't'), 'no hash');
    await expect(store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 })).rejects.toThrow();
    const read = store.readFacts('s', 't', 1, 9, 'commit 1');
    await expect(read).rejects.toMatchObject({ code: 'LOG_DELETED' });
  });
});

it.skipIf(!redis)('A queue is measured in everything', async () => {
  const { store } = await open();
  expect(await store.measure?.('q')).toEqual({
    waiting: 0,
    postponed: 0,
    questions: expect.any(Object),
    undelivered: 0,
    dead: 0,
  });
});
