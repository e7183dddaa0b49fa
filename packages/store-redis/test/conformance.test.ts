import { randomUUID } from 'node:crypto';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { afterAll, describe } from 'vitest';
import { redisForTests } from '../../../test/support/redis.ts';
import { redisStore } from '../src/index.ts';

const redis = await redisForTests();
afterAll(() => redis?.stop());

describe.skipIf(!redis)('Redis', () => {
  const openOn = (shards: number) => () => {
    const options = { url: redis?.url, prefix: `test-${randomUUID()}`, shards };
    const store = redisStore(options);
    return {
      store,
      async reopen() {
        await store.close();
        return redisStore(options);
      },
    };
  };
  for (const [name, open] of [
    ['redisStore with one shard', openOn(1)],
    ['redisStore with 16 shards', openOn(16)],
  ] as const) {
    describeTaskStore(name, open);
    describePushConfigStore(name, open);
  }
});
