import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

describe.skipIf(!redis)('Old logs', () => {
  it('are deleted up to a number, also behind many that a webhook still needs', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 1 });
    const end = (taskId: string, day: number) => {
      const statusAt = new Date(Date.UTC(2026, 0, day)).toISOString();
      return store.commit(chunkAfter(0, { taskId, head: headAt(1, { closed: true, statusAt }) }));
    };
    // More than one script visits, and older than those that may go.
    for (let n = 0; n < 60; n++) {
      const config = { id: 'w', taskId: `kept${n}`, url: 'https://example.com/' };
      const webhook = { ...config, scope: 's', config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
      await store.putPushConfig(webhook);
      await end(`kept${n}`, 1);
    }
    for (let n = 0; n < 60; n++) await end(`old${n}`, 2);
    await end('young', 3);
    const closedBefore = new Date(Date.UTC(2026, 0, 3)).toISOString();
    const prune = (limit: number) => store.prune({ closedBefore, limit });
    expect([await prune(1), await prune(55), await prune(55), await prune(55)]).toEqual([1, 55, 4, 0]);
    expect((await store.list('s', { limit: 1 })).total).toBe(61);
    await store.close();
  });
});
