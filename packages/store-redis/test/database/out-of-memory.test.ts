import type { Commit, TaskStore } from '@batonjs/store';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { chunk, chunkAfter, headAt } from '../../../../test/kit/task-logs.ts';
import { canStart, startRedis } from '../../../../test/support/redis.ts';
import { nodeRedis } from '../../src/connection/node-redis.ts';
import { redisStore } from '../../src/index.ts';
import { changedDriver } from '../changed-driver.ts';

const redis = (await canStart()) ? await startRedis() : undefined;
afterAll(() => redis?.stop());

const opened: TaskStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await redis!.cli('CONFIG', 'SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
  await redis!.cli('FLUSHALL');
});

function open(options: object = {}) {
  const store = redisStore({ url: redis!.url, shards: 4, timeoutMs: 10_000, ...options });
  opened.push(store);
  return store;
}

/** Redis has no memory left from here on, and evicts nothing. */
const fill = () => redis!.cli('CONFIG', 'SET', 'maxmemory', '1');
const makeRoom = () => redis!.cli('CONFIG', 'SET', 'maxmemory', '0');

const held = { turn: { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } } };
const closing = (version: number): Partial<Commit> => ({
  head: headAt(version + 1, { closed: true, state: 'TASK_STATE_CANCELED' }),
});
const cancel: Commit = {
  ...chunkAfter(1),
  facts: [{ ...chunk(1), type: 'cancel-requested' } as Commit['facts'][number]],
  expectedVersion: 'open',
  head: undefined,
  once: 'cancel',
  turn: { queue: 'q', want: true },
};
const full = {
  code: 'UNAVAILABLE',
  trouble: 'out-of-memory',
  message: expect.stringContaining('OOM'),
};

describe.skipIf(!redis)('While the memory of Redis is full', () => {
  it('a lease is kept, a cancel is recorded, and the task ends; what grows is refused', async () => {
    const store = open();
    const { lease } = await store.commit(chunkAfter(0, held));
    const writer = { fence: lease!.fence, holder: 'h' };
    await fill();
    expect(await store.renew([lease!], 60_000)).toEqual([lease]);
    await expect(store.commit(chunkAfter(1, { writer }))).rejects.toMatchObject(full);
    await expect(store.commit({ ...cancel, once: 'message:2' })).rejects.toMatchObject(full);
    expect(await store.commit(cancel)).toEqual({ version: 2 });
    expect(await store.commit(chunkAfter(2, { writer, ...closing(2) }))).toEqual({ version: 3 });
    expect(await store.load('s', 't')).toMatchObject({ version: 3, head: { closed: true } });
  });

  it('a task that no process holds can be canceled: it is claimed and ended', async () => {
    const store = open();
    await store.commit(chunkAfter(0, { turn: { queue: 'q' } }));
    await fill();
    expect(await store.commit(cancel)).toEqual({ version: 2 });
    const [lease] = await store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 });
    expect(lease).toMatchObject({ taskId: 't', cause: 'wanted' });
    const writer = { fence: lease!.fence, holder: 'h' };
    expect(await store.commit(chunkAfter(2, { writer, ...closing(2) }))).toEqual({ version: 3 });
  });

  it('a process that connects then reads, keeps leases and ends tasks', async () => {
    const { lease } = await open().commit(chunkAfter(0, held));
    await fill();
    const late = open();
    expect(await late.load('s', 't')).toMatchObject({ version: 1 });
    expect(await late.renew([lease!], 60_000)).toEqual([lease]);
    expect(await late.commit(chunkAfter(1, closing(1)))).toEqual({ version: 2 });
  });

  it('a turn hands its task back', async () => {
    const store = open();
    const { lease } = await store.commit(chunkAfter(0, held));
    await fill();
    const { head: _, ...rest } = chunkAfter(1);
    const turn = { queue: 'q', release: true, want: true };
    const writer = { fence: lease!.fence, holder: 'h' };
    expect(await store.commit({ ...rest, facts: [], writer, turn })).toEqual({ version: 1 });
    expect(await store.waiting('q')).toBe(1);
  });

  it('a turn hands its task back with its last fact', async () => {
    const store = open();
    const { lease } = await store.commit(chunkAfter(0, held));
    await fill();
    const writer = { fence: lease!.fence, holder: 'h' };
    const turn = { queue: 'q', release: true };
    expect(await store.commit(chunkAfter(1, { writer, turn }))).toEqual({ version: 2 });
  });

  it('a webhook gets the end of its task, once', async () => {
    const store = open();
    await store.commit(chunkAfter(0));
    const config = { id: 'w', taskId: 't', url: 'https://example.com/' };
    await store.putPushConfig({
      ...config,
      scope: 's',
      config,
      protocolVersion: '1.0',
      queue: 'q',
      cursor: 1,
    });
    await fill();
    await store.commit(chunkAfter(1, closing(1)));
    const claim = () => store.claimDeliveries({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 9 });
    const [delivery] = await claim();
    expect(await store.advance(delivery!, { cursor: 2 })).toBe(true);
    expect(await claim()).toEqual([]);
  });

  it('Redis older than 7.0 is sent no script that it cannot read', async () => {
    const sent: string[] = [];
    const driver = nodeRedis({ urls: [redis!.url], timeoutMs: 10_000 });
    const old = changedDriver(driver, {
      info: async () =>
        (await driver.info()).map((info) => info.replace(/redis_version:\S+/, 'redis_version:6.2.14')),
      command: (key: string, args: readonly string[]) => {
        if (args[0] === 'EVAL') sent.push(String(args[1]));
        return driver.command(key, args);
      },
    });
    await redis!.cli('SCRIPT', 'FLUSH');
    const store = open({ driver: old });
    const { lease } = await store.commit(chunkAfter(0, held));
    await store.renew([lease!], 60_000);
    await store.commit(chunkAfter(1, closing(1)));
    await store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 1 });
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.filter((source) => source.startsWith('#!'))).toEqual([]);
  });
});

describe.skipIf(!redis)('A probe', () => {
  it('says that the memory is full, as long as it is', async () => {
    const store = open();
    await store.probe!();
    await fill();
    await expect(store.probe!()).rejects.toMatchObject(full);
    await makeRoom();
    await store.probe!();
  });

  it('notices that Redis is configured to evict keys', async () => {
    const store = open();
    const cache = open({ allowEviction: true });
    await store.probe!();
    await redis!.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(store.probe!()).rejects.toMatchObject({
      code: 'UNUSABLE',
      trouble: 'may-evict',
      message: expect.stringContaining('allkeys-lru'),
    });
    await cache.probe!();
    await redis!.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await store.probe!();
  });

  it('says that Redis became a replica', async () => {
    const store = open();
    await store.probe!();
    await redis!.cli('REPLICAOF', '127.0.0.1', '1');
    await expect(store.probe!()).rejects.toMatchObject({ code: 'UNAVAILABLE', trouble: 'read-only' });
    await redis!.cli('REPLICAOF', 'NO', 'ONE');
  });
});
