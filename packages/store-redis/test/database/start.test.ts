import { StoreError, type TaskStore } from '@batonjs/store';
import { afterAll, describe, expect, it } from 'vitest';
import { chunkAfter, persist } from '../../../../test/kit/task-logs.ts';
import { canStart, startRedis } from '../../../../test/support/redis.ts';
import { type RedisDriver, type RedisStoreOptions, redisStore } from '../../src/index.ts';

const redis = (await canStart()) ? await startRedis() : undefined;
afterAll(() => redis?.stop());

const opened: TaskStore[] = [];
afterAll(() => Promise.all(opened.map((store) => store.close())));

function open(options: RedisStoreOptions) {
  const store = redisStore({ url: redis?.url, ...options });
  opened.push(store);
  return store;
}

/** What a call of a store rejects with. */
const refusalOf = (store: TaskStore) =>
  store.waiting('q').then(
    () => undefined,
    (error: unknown) => error as Error,
  );

async function expectUnusable(store: TaskStore, message: RegExp) {
  const error = await refusalOf(store);
  expect(error).toMatchObject({ code: 'UNUSABLE' });
  expect(error?.message).toMatch(message);
}

describe.skipIf(!redis)('A store that is started', () => {
  it('keeps the number of shards it was first started with, and refuses another one', async () => {
    const first = open({ prefix: 'counted', shards: 4 });
    await first.commit(chunkAfter(0));
    await expectUnusable(open({ prefix: 'counted', shards: 5 }), /in 4 shards, not in 5/);
    const unasked = open({ prefix: 'counted' });
    expect((await unasked.load('s', 't'))?.version).toBe(1);
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) await first.commit(chunkAfter(0, { taskId: `t${n}` }));
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) expect((await unasked.load('s', `t${n}`))?.version).toBe(1);
  });

  it.each([0, 1.5, 1_025])('refuses %s shards', async (shards) => {
    await expectUnusable(open({ prefix: `odd-${shards}`, shards }), /1 to 1024 are possible/);
  });

  it('refuses a Redis that may evict tasks, unless that is allowed', async () => {
    await redis!.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      await expectUnusable(
        open({ prefix: 'evicted' }),
        /maxmemory-policy is allkeys-lru, and should be noeviction/,
      );
      expect(await refusalOf(open({ prefix: 'evicted', allowEviction: true }))).toBeUndefined();
      // Only keys that expire are evicted by this one, and ours do not.
      await redis!.cli('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
      expect(await refusalOf(open({ prefix: 'evicted' }))).toBeUndefined();
    } finally {
      await redis!.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    }
  });

  it('refuses what another release has written', async () => {
    await redis!.cli('HSET', 'newer:layout', 'layout', '8', 'shards', '1');
    await expectUnusable(open({ prefix: 'newer' }), /another release/);
  });

  it('refuses a Redis that is too old', async () => {
    const driver: RedisDriver = {
      name: 'somewhere',
      epoch: 1,
      info: async () => ['redis_version:6.0.16\r\nmaxmemory_policy:noeviction\r\n'],
      command: () => Promise.reject(new Error('nothing is to be sent')),
      subscribe: () => Promise.reject(new Error('nothing is to be heard')),
      close: async () => {},
    };
    await expectUnusable(open({ driver }), /version 6\.0\.16; 6\.2 or newer/);
  });

  it('refuses braces in the prefix, and text that is no URL', () => {
    expect(() => redisStore({ prefix: 'a{b}' })).toThrow(expect.objectContaining({ code: 'UNUSABLE' }));
    expect(() => redisStore('not a url')).toThrow(expect.objectContaining({ code: 'UNUSABLE' }));
  });

  it('keeps stores of different prefixes apart', async () => {
    const [one, two] = [open({ prefix: 'one' }), open({ prefix: 'two' })];
    await one.commit(chunkAfter(0));
    expect(await two.load('s', 't')).toBeUndefined();
    expect((await one.load('s', 't'))?.version).toBe(1);
  });

  it('is closed twice, and refuses calls afterwards', async () => {
    const store = open({ prefix: 'closed' });
    const last = store.commit(chunkAfter(0));
    await Promise.all([store.close(), store.close()]);
    expect(await last).toEqual({ version: 1 });
    await store.close();
    await expect(store.load('s', 't')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe.skipIf(!redis)('A store without its Redis', () => {
  it('rejects within its bound without showing the password, and works once Redis is there', async () => {
    const late = await startRedis({ args: ['--requirepass', 'secret word'] });
    await late.kill();
    const url = `redis://:${encodeURIComponent('secret word')}@127.0.0.1:${late.port}`;
    const store = open({ url, timeoutMs: 500 });
    const errors = await Promise.all([
      refusalOf(store),
      Promise.resolve(store.commit(chunkAfter(0))).catch((error) => error),
      Promise.resolve(store.subscribe({ queue: 'q' }, () => {})).catch((error) => error),
    ]);
    for (const error of errors) {
      expect(StoreError.is(error, 'UNAVAILABLE')).toBe(true);
      expect(error?.message).toContain(`127.0.0.1:${late.port}`);
      expect(error?.message).not.toContain('secret');
    }
    await late.restart();
    await persist(store, chunkAfter(0));
    await late.stop();
  });

  it('says that the password is wrong', async () => {
    const guarded = await startRedis({ args: ['--requirepass', 'right'] });
    const error = await refusalOf(
      open({ url: `redis://:wrong@127.0.0.1:${guarded.port}`, timeoutMs: 3_000 }),
    );
    expect(error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(error?.message).toMatch(/WRONGPASS/);
    await guarded.stop();
  });
});
