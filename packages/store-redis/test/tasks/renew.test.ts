import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { chunkAfter } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

describe.skipIf(!redis)('A lease', () => {
  it('is renewed while its turn writes without a pause', async () => {
    const store = closedAfterTest(redisStore({ url: redis!.url, prefix: `test-${randomUUID()}` }));
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

  it('is renewed beside one that is being written, and the task is known afterwards as Redis has it', async () => {
    const prefix = `test-${randomUUID()}`;
    const [store, other] = [1, 2].map(() =>
      closedAfterTest(redisStore({ url: redis!.url, prefix, shards: 1 })),
    );
    const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } };
    const writer = { fence: 1, holder: 'h' };
    const { lease: busy } = await store!.commit(chunkAfter(0, { taskId: 'busy', turn }));
    const stop = new AbortController();
    const writing = (async () => {
      for (let version = 1; !stop.signal.aborted; version++)
        await store!.commit(chunkAfter(version, { taskId: 'busy', writer }));
    })();
    for (const taskId of ['a', 'b', 'c', 'd', 'e']) {
      const { lease } = await store!.commit(chunkAfter(0, { taskId, turn }));
      expect(await store!.renew([lease!, busy!], 60_000)).toHaveLength(2);
      await other!.commit(chunkAfter(1, { taskId, writer }));
      // On a row that is known wrongly, this commit would take the place of the other one.
      const late = store!.commit(chunkAfter(1, { taskId, writer, commitId: 'late' }));
      await expect(late).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
      const facts = await store!.readFacts('s', taskId, 0, 9);
      expect(facts.map(({ commitId }) => commitId)).toEqual(['commit 1', 'commit 2']);
    }
    stop.abort();
    await writing;
  });
});
