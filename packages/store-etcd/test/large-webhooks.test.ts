import { randomUUID } from 'node:crypto';
import type { PushConfig } from '@batonjs/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chunk, chunkAfter } from '../../../test/kit/task-logs.ts';
import { etcdForTests } from '../../../test/support/etcd.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import { connectionsTo } from '../src/cluster/connections.ts';
import { etcdStore } from '../src/index.ts';
import { digestOf, inside, keysOf } from '../src/layout/keys.ts';

const etcd = await etcdForTests();

function open() {
  const prefix = `webhooks/${randomUUID()}`;
  const sizes: number[] = [];
  const store = etcdStore(etcd!.urls, { prefix, timeoutMs: 20_000, onGroup: (size) => sizes.push(size) });
  onTestFinished(() => store.close());
  const connections = connectionsTo(etcd!.urls, undefined);
  onTestFinished(() => connections.close());
  const cluster = new Cluster(connections, 20_000);
  const keys = keysOf(prefix);
  const countKeys = async (folder: string) => {
    const [range] = await cluster.read([{ ...inside(folder), countOnly: true }]);
    return range.count;
  };
  return { store, sizes, keys, countKeys, prefix };
}

const text = (letter: string) => letter.repeat(8_192);

/** A webhook with the longest texts that a server takes. */
const largeWebhook = (id: string, { letter = 'x', cursor = 0 } = {}): Omit<PushConfig, 'attempts'> => ({
  scope: 's',
  taskId: 't',
  id,
  config: {
    id,
    taskId: 't',
    url: `https://hooks.example/${text(letter)}`.slice(0, 8_192),
    token: text(letter),
    authentication: { scheme: text(letter), credentials: text(letter) },
  },
  protocolVersion: '1.0',
  queue: 'q',
  cursor,
});

const idsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => `hook-${String(n).padStart(3, '0')}`);

/** A commit with so many bytes of facts, which closes the log. */
const closing = (version: number, bytes: number) =>
  chunkAfter(version, {
    facts: [{ ...chunk(version + 1), metadata: { text: 'f'.repeat(bytes) } } as never],
    head: { ...chunkAfter(version).head!, closed: true },
  });

const claim = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 200 };

it.skipIf(!etcd)('Deliveries are claimed in the order of their times, whatever their tasks', async () => {
  const { store } = open();
  for (const taskId of ['t', 'u']) await store.commit(chunkAfter(0, { taskId }));
  const now = Date.now();
  const times = { t1: now - 30, t2: now - 10, u1: now - 20 };
  for (const id of Object.keys(times)) {
    const taskId = id.slice(0, 1);
    const config = { id, taskId, url: 'https://hooks.example' };
    await store.putPushConfig({
      ...{ scope: 's', taskId, id, config, protocolVersion: '1.0', queue: 'q', cursor: 0 },
    });
  }
  for (const delivery of await store.claimDeliveries(claim)) {
    const time = times[delivery.push.id as keyof typeof times];
    await store.advance(delivery, { retryAt: new Date(time).toISOString(), attempts: 1 });
  }
  const claimed = await store.claimDeliveries({ ...claim, holder: 'i', limit: 2 });
  expect(claimed.map(({ push }) => push.id)).toEqual(['t1', 'u1']);
});

describe.skipIf(!etcd)('A task with large webhooks', () => {
  it('is committed beside others, and no write is refused', async () => {
    const { store, sizes } = open();
    const others = Array.from({ length: 24 }, (_, n) => `other ${n}`);
    for (const taskId of ['t', ...others]) await store.commit(chunkAfter(0, { taskId }));
    for (const id of idsOf(40)) await store.putPushConfig(largeWebhook(id, { cursor: 1 }), 100);
    sizes.length = 0;
    // All webhooks of the task fall behind, and the facts of the others are as much as a transaction is given.
    const large = (taskId: string) => ({ ...closing(1, 20_000), taskId });
    await Promise.all(['t', ...others].map((taskId) => store.commit(large(taskId))));
    expect(Math.max(...sizes)).toBeGreaterThan(10);
    expect(await store.claimDeliveries(claim)).toHaveLength(40);
  });

  it('may have a hundred of them, is ended with large facts, and leaves nothing when it is pruned', async () => {
    const { store, countKeys, prefix } = open();
    await store.commit(chunkAfter(0));
    const ids = idsOf(100);
    // Ten of them will be behind.
    const all = ids.map((id, n) => largeWebhook(id, { cursor: n < 10 ? 1 : 2 }));
    for (const push of all) expect(await store.putPushConfig(push, 100)).toBe(true);
    expect(await store.putPushConfig(largeWebhook('one more'), 100)).toBe(false);
    expect(await store.commit(closing(1, 200_000))).toEqual({ version: 2 });

    const listed = await store.listPushConfigs('s', 't', { limit: 200 });
    expect(listed).toEqual(all.map((push) => ({ ...push, attempts: 0 })));
    expect(
      (await store.listPushConfigs('s', 't', { limit: 2, after: ids[97]! })).map(({ id }) => id),
    ).toEqual(ids.slice(98));
    const deliveries = await store.claimDeliveries(claim);
    expect(deliveries.map(({ push }) => push)).toEqual(listed.slice(0, 10));
    const [dead, ...delivered] = deliveries;
    expect(await store.advance(dead!, { dead: 'gone' })).toBe(true);
    for (const delivery of delivered) expect(await store.advance(delivery, { cursor: 2 })).toBe(true);
    expect(await store.listDead('q', { limit: 9 })).toEqual([{ ...listed[0], dead: 'gone' }]);
    expect(await store.removePushConfig('s', 't', ids[5]!)).toBe(true);
    expect(await store.getPushConfig('s', 't', ids[5]!)).toBeUndefined();

    expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 })).toBe(1);
    expect(await countKeys(`${prefix}/config/`)).toBe(0);
    expect(await countKeys(`${prefix}/webhooks/`)).toBe(0);
  });

  it('has each as it was registered last, whatever its size', async () => {
    const { store, countKeys, keys } = open();
    await store.commit(chunkAfter(0));
    const small = {
      ...largeWebhook('hook'),
      config: { id: 'hook', taskId: 't', url: 'https://hooks.example' },
    };
    const kept: number[] = [];
    for (const push of [
      largeWebhook('hook'),
      largeWebhook('hook', { letter: 'y' }),
      small,
      largeWebhook('hook'),
    ]) {
      await store.putPushConfig(push);
      expect((await store.getPushConfig('s', 't', 'hook'))?.config).toEqual(push.config);
      kept.push(await countKeys(keys.configs(digestOf('s', 't'))));
    }
    expect(kept).toEqual([1, 1, 0, 1]);
    await store.removePushConfig('s', 't', 'hook');
    expect(await countKeys(keys.configs(digestOf('s', 't')))).toBe(0);
  });

  it('is never seen with the config of another moment while they are replaced', async () => {
    const { store } = open();
    await store.commit(chunkAfter(0));
    const versions = { x: '1.0', y: '0.3' };
    const put = (letter: 'x' | 'y') =>
      store.putPushConfig({ ...largeWebhook('hook', { letter }), protocolVersion: versions[letter] });
    await put('x');
    let isPutting = true;
    const seen = new Set<string>();
    const reading = (async () => {
      while (isPutting) {
        const push = await store.getPushConfig('s', 't', 'hook');
        seen.add(`${push?.config.token?.[0]} ${push?.protocolVersion}`);
        const [delivery] = await store.claimDeliveries({ ...claim, ttlMs: 1 });
        if (delivery) seen.add(`${delivery.push.config.token?.[0]} ${delivery.push.protocolVersion}`);
      }
    })();
    for (let n = 0; n < 60; n++) await put(n % 2 === 0 ? 'y' : 'x');
    isPutting = false;
    await reading;
    expect(['x 1.0', 'y 0.3']).toEqual(expect.arrayContaining([...seen]));
  });

  it('is refused more than fit into its row, and goes on with those that it has', async () => {
    const { store } = open();
    await store.commit(chunkAfter(0));
    const id = (n: number) => `${n}${'i'.repeat(50_000)}`;
    const put = (n: number) => store.putPushConfig(largeWebhook(id(n), { cursor: 1 }));
    let count = 0;
    const refused = async () => {
      for (; count < 50; count++) await put(count);
    };
    await expect(refused()).rejects.toMatchObject({
      code: 'INVALID_COMMIT',
      message: expect.stringMatching(/The webhooks of a task take \d+ bytes/),
    });
    expect(count).toBeGreaterThan(10);
    const snapshot = { version: 2, text: 'x'.repeat(250_000) } as never;
    expect(await store.commit({ ...closing(1, 250_000), snapshot })).toEqual({ version: 2 });
    expect(await store.claimDeliveries(claim)).toHaveLength(count);
  });

  it('is delivered apart from other ones, as much as a transaction takes at once', async () => {
    const { store } = open();
    const tasks = ['t1', 't2', 't3'];
    // Ids are in the row: those of each task are 600 KB together.
    for (const taskId of tasks) {
      await store.commit(chunkAfter(0, { taskId }));
      for (let n = 0; n < 12; n++)
        await store.putPushConfig({ ...largeWebhook(`${n}${'i'.repeat(50_000)}`), taskId });
    }
    const delivered: string[] = [];
    for (let claims = 0; claims < 3; claims++) {
      const deliveries = await store.claimDeliveries(claim);
      expect(deliveries).toHaveLength(12);
      delivered.push(deliveries[0]!.push.taskId);
    }
    expect(delivered.sort()).toEqual(tasks);
  });
});
