import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';
import { describe, expect, it } from 'vitest';
import { redisForTests } from '../../../test/support/redis.ts';
import { redisStore } from '../src/index.ts';

const redis = await redisForTests();

describe.skipIf(!redis)('Redis', () => {
  it('drops a bucket when it is full again, also after a refusal', async () => {
    const prefix = `test-${randomUUID()}`;
    const store = redisStore({ url: redis!.url, prefix });
    const client = await createClient({ url: redis!.url }).connect();
    for (const burst of [1, 2]) {
      const name = `of ${burst}`;
      for (let n = 0; n < 3; n++) await store.take!(name, { burst, everyMs: 60_000 });
      const leftMs = await client.pTTL(`${prefix}:{0}:bucket:${name}`);
      expect(leftMs).toBeGreaterThan((burst - 1) * 60_000);
      expect(leftMs).toBeLessThanOrEqual(burst * 60_000);
    }
    await Promise.all([store.close(), client.close()]);
  });
});
