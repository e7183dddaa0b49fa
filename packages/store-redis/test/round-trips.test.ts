import { randomUUID } from 'node:crypto';
import type { Lease } from '@batonjs/store';
import { createClient } from 'redis';
import { describe, expect, it } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { redisForTests } from '../../../test/support/redis.ts';
import { nodeRedis } from '../src/connection/node-redis.ts';
import { redisStore } from '../src/index.ts';
import { changedDriver } from './changed-driver.ts';

const redis = await redisForTests();

/** A driver that writes down what it is asked to send. */
function recording() {
  const driver = nodeRedis({ urls: [redis!.url], timeoutMs: 4_000 });
  const sent: string[] = [];
  let closed = 0;
  const recorder = changedDriver(driver, {
    command(key, args) {
      sent.push(args[0]!);
      return driver.command(key, args);
    },
    close() {
      closed++;
      return driver.close();
    },
  });
  return { recorder, sent, closed: () => closed };
}

describe.skipIf(!redis)('Each call of a store with one shard', () => {
  it('sends one command, a claim that gives out a task two, and watching none', async () => {
    const { recorder, sent, closed } = recording();
    const store = redisStore({ driver: recorder, prefix: `test-${randomUUID()}` });
    // The first call of a kind also finds out that Redis is usable and does not know the script yet.
    const lease = { queue: 'q', holder: 'h', ttlMs: 60_000 };
    const calls = [
      (n: number) => store.commit(chunkAfter(n, { turn: { queue: 'q', acquire: lease } })),
      () => store.load('s', 't'),
      () => store.readFacts('s', 't', 0, 10),
      () => store.readFacts('s', 't', 1, 10, 'commit 1'),
      () => store.identity(),
      () => store.list('s', { limit: 10 }),
      () => store.claim({ ...lease, limit: 10 }),
      () => store.renew([{ ...lease, scope: 's', taskId: 't', fence: 1, cause: 'held' }], 60_000),
      () => store.waiting('q'),
      () => store.prune({ closedBefore: '2030-01-01T00:00:00.000Z', limit: 1 }),
      () => store.claimDeliveries({ ...lease, limit: 10 }),
    ];
    for (const call of calls) await call(0);
    for (const call of calls) {
      sent.length = 0;
      await call(1);
      // It has the lease already, and gets it once more.
      expect(sent.length, String(call)).toBe(/store\.claim\(/.test(String(call)) ? 2 : 1);
    }
    await store.subscribe({ queue: 'q' }, () => {});
    sent.length = 0;
    for (let n = 0; n < 10; n++) await store.subscribe({ scope: 's', taskId: `t${n}` }, () => {});
    expect(sent).toEqual([]);
    await store.close();
    expect(closed()).toBe(1);
  });

  it('sends one command for a change of tasks that it knows, with their webhooks and leases', async () => {
    const { recorder, sent } = recording();
    const store = redisStore({ driver: recorder, prefix: `test-${randomUUID()}` });
    const lease = { queue: 'q', holder: 'h', ttlMs: 60_000 };
    const writer = { fence: 1, holder: 'h' };
    const push = (taskId: string) => {
      const config = { taskId, id: 'w', url: 'https://example.com/' };
      return { scope: 's', taskId, id: 'w', config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
    };
    const leases: Lease[] = [];
    for (const taskId of ['a', 'b']) {
      const { lease: taken } = await store.commit(
        chunkAfter(0, { taskId, turn: { queue: 'q', acquire: lease } }),
      );
      leases.push(taken!);
      await store.putPushConfig(push(taskId));
      await store.putPushConfig({ ...push(taskId), id: 'other' });
    }
    // Each changes rows of webhooks, or leaves them as they are; and one task is new.
    const changes = [
      () => store.renew(leases, 60_000),
      () => store.commit(chunkAfter(1, { taskId: 'b', writer })),
      () => store.commit(chunkAfter(1, { taskId: 'a', writer })),
      () => store.removePushConfig('s', 'a', 'w'),
      () => store.commit(chunkAfter(2, { taskId: 'a', writer })),
      () => store.renew(leases, 60_000),
      () => store.removePushConfig('s', 'a', 'other'),
      () => store.commit(chunkAfter(3, { taskId: 'a', writer })),
      () => store.commit(chunkAfter(0, { taskId: 'new' })),
    ];
    for (const change of changes) {
      sent.length = 0;
      await change();
      expect(sent, String(change)).toEqual(['EVALSHA']);
    }
    await store.close();
  });

  it('sends a look and a write where another process has changed what it knew', async () => {
    const { recorder, sent } = recording();
    const prefix = `test-${randomUUID()}`;
    const [store, other] = [
      redisStore({ driver: recorder, prefix }),
      redisStore({ url: redis!.url, prefix }),
    ];
    const config = { taskId: 't', id: 'w', url: 'https://example.com/' };
    const webhook = {
      scope: 's',
      taskId: 't',
      id: 'w',
      config,
      protocolVersion: '1.0',
      queue: 'q',
      cursor: 0,
    };
    await store.putPushConfig(webhook);
    await store.commit(chunkAfter(0));
    const commit = async (version: number) => {
      sent.length = 0;
      const outcome = await Promise.resolve(store.commit(chunkAfter(version))).then(() => '', Object);
      return [outcome.code, sent.length];
    };
    expect(await commit(1)).toEqual([undefined, 1]);
    const [delivery] = await store.claimDeliveries({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 9 });
    await store.advance(delivery!, { cursor: 2 });
    expect(await commit(2)).toEqual([undefined, 2]);
    await other.commit(chunkAfter(3));
    // Refused once on what it knew, and then told why.
    expect(await commit(3)).toEqual(['VERSION_CONFLICT', 2]);
    expect(await commit(4)).toEqual([undefined, 2]);
    await Promise.all([store.close(), other.close()]);
  });

  it('notifies with the length of the log, and of a queue without any', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}` });
    const notified = Promise.withResolvers<number | undefined>();
    await store.subscribe(
      { scope: 's', taskId: 't' },
      (version) => version === 3 && notified.resolve(version),
    );
    const waits = Promise.withResolvers<number | undefined>();
    await store.subscribe({ queue: 'q' }, waits.resolve);
    for (const version of [0, 1]) await store.commit(chunkAfter(version));
    await store.commit(chunkAfter(2, { turn: { queue: 'q', want: true } }));
    expect(await notified.promise).toBe(3);
    expect(await waits.promise).toBeUndefined();
    await store.close();
  });

  it('notifies of everything after its subscription was interrupted', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}` });
    const client = await createClient({ url: redis!.url }).connect();
    const notified = Promise.withResolvers<number | undefined>();
    await store.subscribe({ queue: 'q' }, notified.resolve);
    await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub']);
    expect(await notified.promise).toBeUndefined();
    await Promise.all([store.close(), client.close()]);
  });

  it('lets thousands of commits of one moment share the connection', async () => {
    const store = redisStore({ url: redis!.url, prefix: `test-${randomUUID()}` });
    const taskIds = Array.from({ length: 3_000 }, (_, n) => `t${n}`);
    const written = await Promise.all(taskIds.map((taskId) => store.commit(chunkAfter(0, { taskId }))));
    expect(new Set(written.map(({ version }) => version))).toEqual(new Set([1]));
    expect((await store.list('s', { limit: 1 })).total).toBe(3_000);
    await store.close();
  });
});
