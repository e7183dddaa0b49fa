import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { chunkAfter } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();
afterAll(() => redis?.stop());

describe.skipIf(!redis)('A lease', () => {
  it('is renewed while its turn writes without a pause', async () => {
    const store = closedAfterTest(redisStore({ url: redis!.url, prefix: 'renewed' }));
    const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };
    const { lease } = await store.commit(chunkAfter(0, { taskId: 'busy', turn }));
    const stop = new AbortController();
    let version = 1;
    const writing = (async () => {
      for (; !stop.signal.aborted; version++)
        await store.commit(chunkAfter(version, { taskId: 'busy', writer: { fence: 1, holder: 'h' } }));
    })();
    const renewed = [];
    for (let n = 0; n < 5; n++) {
      await sleep(20);
      renewed.push(...(await store.renew([lease!], 60_000)));
    }
    stop.abort();
    await writing;
    expect(renewed).toHaveLength(5);
    expect(version).toBeGreaterThan(5);
  });
});
