import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

it.skipIf(!redis)('A log that is pruned leaves only the record of its deletion in Redis', async () => {
  const prefix = `test-${randomUUID()}`;
  const store = closedAfterTest(redisStore({ url: redis!.url, prefix, shards: 1 }));
  const client = await createClient({ url: redis!.url }).connect();
  onTestFinished(() => client.close());
  const config = { taskId: 't', id: 'w', url: 'https://example.com/' };
  const webhook = { scope: 's', taskId: 't', id: 'w', config, protocolVersion: '1.0', queue: 'q', cursor: 3 };
  await store.commit(chunkAfter(0, { once: 'key', turn: { queue: 'q', want: true } }));
  await store.putPushConfig(webhook);
  await store.commit(chunkAfter(1));
  const head = headAt(3, { closed: true, labels: ['label'] });
  await store.commit(chunkAfter(2, { head }));
  const kinds = async () => {
    const keys = (await client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length));
    return keys.map((key) => key.replace(':{0}:', '').split(':', 1)[0]).toSorted();
  };
  expect(await kinds()).toEqual(['', 'context', 'ended', 'hooks', 'list', 'log', 'task', 'term']);
  expect(await store.prune({ closedBefore: '2040-01-01T00:00:00.000Z', limit: 9 })).toBe(1);
  // That of the layout of keys, too.
  expect(await kinds()).toEqual(['', 'record', 'record-ends', 'records']);
});
