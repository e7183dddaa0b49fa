import { randomUUID } from 'node:crypto';
import type { Lease } from '@batonjs/store';
import { afterEach, describe, expect, it } from 'vitest';
import { chunkAfter } from '../../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { redisStore } from '../../src/index.ts';

const redis = await redisForTests();

const opened: ReturnType<typeof redisStore>[] = [];
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

function open() {
  const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}`, shards: 8 });
  opened.push(store);
  const want = (scope: string, taskId: string) =>
    store.commit(chunkAfter(0, { scope, taskId, turn: { queue: 'q', want: true, aheadMs: 0 } }));
  const claim = (schedule: { concurrency?: number; perCaller?: number }, limit = 1) =>
    store.claim({ queue: 'q', holder: randomUUID(), ttlMs: 60_000, limit, schedule });
  return { store, want, claim };
}

describe.skipIf(!redis)('A schedule on several shards', () => {
  it('counts the turns that run on all of them, and gives a place that becomes free to another task', async () => {
    const { store, want, claim } = open();
    for (let n = 0; n < 30; n++) await want('s', `t${n}`);
    const leases: Lease[] = [];
    for (let n = 0; n < 30; n++) leases.push(...(await claim({ concurrency: 5 }, 3)));
    expect(leases.length).toBe(5);
    const { holder, fence, taskId } = leases[0]!;
    const release = { facts: [], head: undefined, writer: { holder, fence } };
    await store.commit(chunkAfter(1, { ...release, taskId, turn: { queue: 'q', release: true } }));
    expect((await claim({ concurrency: 5 }, 3)).length).toBe(1);
    expect(await store.waiting('q')).toBe(24);
  });

  it('counts the turns of a caller on all of them, and lets no caller wait forever', async () => {
    const { want, claim } = open();
    for (let n = 0; n < 40; n++) await want('many', `m${n}`);
    await want('few', 'f');
    const leases: Lease[] = [];
    for (let n = 0; n < 20; n++) leases.push(...(await claim({ perCaller: 2 }, 2)));
    const of = (scope: string) => leases.filter((lease) => lease.scope === scope).length;
    expect([of('many'), of('few')]).toEqual([2, 1]);
  });
});
