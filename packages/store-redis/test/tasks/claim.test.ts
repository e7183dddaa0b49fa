import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

const wanted = { turn: { queue: 'q', want: true } };

/** Until the clock shows another millisecond: facts before and after have different times. */
async function nextMillisecond(): Promise<void> {
  const before = Date.now();
  while (Date.now() === before) await new Promise((resolve) => setImmediate(resolve));
}

describe.skipIf(!redis)('Tasks that wait for a turn', () => {
  it('are claimed in the order in which they began to wait, though one is wanted again with another due time', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 1 });
    for (const taskId of ['first', 'second', 'third']) {
      await store.commit(chunkAfter(0, { taskId, ...wanted }));
      await nextMillisecond();
    }
    // Another due time has the task put again among those that can be claimed.
    const head = headAt(2, { dueAt: '2040-01-01T00:00:00.000Z' });
    await store.commit(chunkAfter(1, { taskId: 'first', head, ...wanted }));
    const claimed = [];
    for (const holder of ['a', 'b', 'c'])
      claimed.push(...(await store.claim({ queue: 'q', holder, ttlMs: 60_000, limit: 1 })));
    expect(claimed.map(({ taskId }) => taskId)).toEqual(['first', 'second', 'third']);
    await store.close();
  });

  it('are given out once, beside those that the holder has already, from every shard', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 2 });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const taskId of ids) await store.commit(chunkAfter(0, { taskId, ...wanted }));
    const claim = (limit: number) => store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit });
    await claim(1);
    const leases = await claim(99);
    expect(leases.map(({ taskId }) => taskId).toSorted()).toEqual(ids);
    await store.close();
  });

  it('are claimed by their names where a schedule orders them, too', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 1 });
    const ordered = { turn: { ...wanted.turn, aheadMs: 0 } };
    for (const taskId of ['first', 'second']) await store.commit(chunkAfter(0, { taskId, ...ordered }));
    const request = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 9, schedule: { concurrency: 9 } };
    const leases = await store.claim({ ...request, task: { scope: 's', taskId: 'second' } });
    expect(leases.map(({ taskId }) => taskId)).toEqual(['second']);
    await store.close();
  });
});
