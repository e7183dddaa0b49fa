import type { TaskStore } from '@batonjs/store';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { chunkAfter, untilItWorks } from '../../../../test/kit/task-logs.ts';
import { canStart, startRedis } from '../../../../test/support/redis.ts';
import { type RedisStoreOptions, redisStore } from '../../src/index.ts';

// Without the append-only file: after a kill it begins with its last dump.
const redis = (await canStart()) ? await startRedis({ args: ['--appendonly', 'no'] }) : undefined;
afterAll(() => redis?.stop());

const opened: TaskStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function open(options: Omit<RedisStoreOptions, 'url'> = {}) {
  const store = redisStore({ url: redis!.url, timeoutMs: 10_000, ...options });
  opened.push(store);
  return store;
}

describe.skipIf(!redis)('The identity of a store', () => {
  it('is another one once Redis was emptied, for every process, with as many shards as before', async () => {
    const [one, other] = [open({ prefix: 'emptied', shards: 4 }), open({ prefix: 'emptied' })];
    const before = await one.identity();
    expect(await other.identity()).toBe(before);
    await redis!.cli('FLUSHALL');
    const after = await other.identity();
    expect(after).not.toBe(before);
    expect(await one.identity()).toBe(after);
    for (const taskId of ['a', 'b', 'c', 'd', 'e']) {
      await one.commit(chunkAfter(0, { taskId }));
      expect((await other.load('s', taskId))?.version).toBe(1);
    }
    expect((await open({ prefix: 'emptied', shards: 4 }).load('s', 'a'))?.version).toBe(1);
  });

  it('is another one for another prefix', async () => {
    expect(await open({ prefix: 'one' }).identity()).not.toBe(await open({ prefix: 'other' }).identity());
  });

  it('makes a process read the number of shards again', async () => {
    const one = open({ prefix: 'divided' });
    await one.identity();
    await redis!.cli('FLUSHALL');
    const divided = open({ prefix: 'divided', shards: 7 });
    for (const taskId of ['a', 'b', 'c', 'd', 'e']) await divided.commit(chunkAfter(0, { taskId }));
    await one.identity();
    for (const taskId of ['a', 'b', 'c', 'd', 'e']) expect((await one.load('s', taskId))?.version).toBe(1);
  });
});

describe.skipIf(!redis)('After Redis began again with an older dump', () => {
  it('a reader that knows more is refused, and one that knows what was kept is not', async () => {
    const store = open({ prefix: 'older' });
    for (const version of [0, 1, 2]) await store.commit(chunkAfter(version));
    const identity = await store.identity();
    await redis!.cli('SAVE');
    for (const version of [3, 4]) await store.commit(chunkAfter(version));
    await redis!.restart();
    expect(await untilItWorks(() => store.identity())).toBe(identity);
    const diverged = { code: 'LOG_DIVERGED' };
    await expect(store.readFacts('s', 't', 5, 9, 'commit 5')).rejects.toMatchObject(diverged);
    expect(await store.readFacts('s', 't', 3, 9, 'commit 3')).toEqual([]);
    await store.commit(chunkAfter(3, { commitId: 'another 4' }));
    await store.commit(chunkAfter(4, { commitId: 'another 5' }));
    await expect(store.readFacts('s', 't', 5, 9, 'commit 5')).rejects.toMatchObject(diverged);
    expect(await store.readFacts('s', 't', 3, 9, 'commit 3')).toHaveLength(2);
  });
});
