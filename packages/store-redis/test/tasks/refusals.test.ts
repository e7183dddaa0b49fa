import { randomUUID } from 'node:crypto';
import type { Commit } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

describe.skipIf(!redis)('A commit that is refused', () => {
  it('is told why, in words', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 1 });
    const refused = async (commit: Commit) => {
      const error = await Promise.resolve(store.commit(commit)).then(() => undefined, Object);
      return [error?.code, error?.message];
    };
    const want = { turn: { queue: 'q', want: true } };
    const open = { expectedVersion: 'open', head: undefined, once: 'message' } as const;
    await store.commit(chunkAfter(0, want));
    expect(await refused(chunkAfter(1, { writer: { fence: 7, holder: 'h' } }))).toEqual([
      'FENCED',
      'h does not hold task t any more',
    ]);
    expect(await refused(chunkAfter(3))).toEqual(['VERSION_CONFLICT', 'The log of task t is at 1, not 3']);
    expect(await refused(chunkAfter(3, { ...open, taskId: 'none' }))).toEqual([
      'VERSION_CONFLICT',
      'Task none has no log to append to',
    ]);
    expect(await refused(chunkAfter(0, { taskId: 'u', turn: { ...want.turn, waitingAtMost: 1 } }))).toEqual([
      'QUEUE_FULL',
      '1 tasks of queue q are waiting for a turn already',
    ]);
    const release = { facts: [], head: undefined, turn: { queue: 'q', release: true } };
    expect(await refused(chunkAfter(0, { taskId: 'u', ...release }))).toEqual([
      'INVALID_COMMIT',
      'The first commit of a log needs a head',
    ]);
    await store.commit(chunkAfter(1, { head: headAt(2, { closed: true }) }));
    expect(await refused(chunkAfter(2))).toEqual(['LOG_CLOSED', 'The log of task t is closed']);
    await store.close();
  });

  it('is one that was written before if its key says so, even if it contradicts itself', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 1 });
    const wrong = { head: headAt(9) };
    await store.commit(chunkAfter(0, { once: 'a' }));
    await store.commit(chunkAfter(1, { once: 'b' }));
    expect(await store.commit(chunkAfter(2, { ...wrong, once: 'b' }))).toEqual({
      version: 2,
      repeated: true,
    });
    const invalid = { code: 'INVALID_COMMIT' };
    await expect(store.commit(chunkAfter(2, { ...wrong, once: 'c' }))).rejects.toMatchObject(invalid);
    await expect(store.commit(chunkAfter(2, wrong))).rejects.toMatchObject(invalid);
    await store.close();
  });

  it('is told which time of it cannot be read', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 2 });
    for (const name of ['dueAt', 'statusAt']) {
      const commit = chunkAfter(0, { head: headAt(1, { [name]: 'soon' }) });
      await expect(store.commit(commit)).rejects.toMatchObject({
        code: 'INVALID_COMMIT',
        message: `${name} is no time: soon`,
      });
    }
    await store.close();
  });
});

it('a Redis that cannot be reached answers no ping', async () => {
  const store = redisStore({ url: 'redis://127.0.0.1:1', timeoutMs: 100 });
  await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await store.close();
});
