import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inflateSync } from 'node:zlib';
import { createAgentServer, reply } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import pg from 'pg';
import { createClient } from 'redis';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { Cluster } from '../../packages/store-etcd/src/cluster/cluster.ts';
import { connectionsTo } from '../../packages/store-etcd/src/cluster/connections.ts';
import { layouts as etcdLayouts, keysOf } from '../../packages/store-etcd/src/layout/keys.ts';
import {
  layouts as postgresLayouts,
  tables,
  textTables,
} from '../../packages/store-postgres/src/database/schema.ts';
import { layouts as redisLayouts } from '../../packages/store-redis/src/database/database.ts';
import { schema, layouts as sqliteLayouts, textSchema } from '../../packages/store-sqlite/src/sql/schema.ts';
import { chunkAfter, headAt } from '../kit/task-logs.ts';
import { etcdForTests } from '../support/etcd.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import stored from './layouts/stored.json' with { type: 'json' };

type Store = TaskStore & PushConfigStore;

const [redis, postgres, etcd] = await Promise.all([redisForTests(), postgresForTests(), etcdForTests()]);
const folder = mkdtempSync(join(tmpdir(), 'baton-layouts-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What an earlier release stored: its newest layout, and the one before it went back to 1. */
const bytesOf = (lines: readonly string[]): Buffer => inflateSync(Buffer.from(lines.join(''), 'base64'));

const redisClient = () => createClient({ url: redis!.url });

async function withRedis<T>(use: (client: ReturnType<typeof redisClient>) => Promise<T>): Promise<T> {
  const client = redisClient();
  await client.connect();
  return use(client).finally(() => client.destroy());
}

async function withEtcd<T>(use: (cluster: Cluster) => Promise<T>): Promise<T> {
  const connections = connectionsTo(etcd!.urls, undefined);
  return use(new Cluster(connections, 5_000)).finally(() => connections.close());
}

/** For each store: puts stored data where it was, and opens it. */
const stores: Readonly<
  Record<
    keyof typeof stored,
    { isHere: boolean; numbers: string[]; open(data: Buffer): Promise<() => Store> }
  >
> = {
  sqlite: {
    isHere: true,
    numbers: ['6', '1'],
    async open(data) {
      const path = join(folder, `${data.length}.db`);
      writeFileSync(path, data);
      return () => sqliteStore(path);
    },
  },
  postgres: {
    isHere: postgres !== undefined,
    numbers: ['6', '1'],
    async open(data) {
      const client = new pg.Client({ connectionString: postgres!.url });
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS stored CASCADE; ${data}`).finally(() => client.end());
      return () => postgresStore(postgres!.url, { schema: 'stored' });
    },
  },
  redis: {
    isHere: redis !== undefined,
    numbers: ['1', '1'],
    async open(data) {
      await withRedis(async (client) => {
        const commands: string[][] = JSON.parse(String(data));
        for (const [command = '', key = '', ...words] of commands) {
          await client.del(key);
          await client.sendCommand([command, key, ...words]);
        }
      });
      return () => redisStore({ url: redis!.url, prefix: 'stored' });
    },
  },
  etcd: {
    isHere: etcd !== undefined,
    numbers: ['1', '1'],
    async open(data) {
      const kvs: [string, string][] = JSON.parse(String(data));
      const puts = kvs.map(([key, value]) => ({ put: { key, value } }));
      const old = { delete: { key: 'stored/', rangeEnd: 'stored0' } };
      await withEtcd(async (cluster) => {
        await cluster.transact({ success: [old] });
        await cluster.transact({ success: puts });
      });
      return () => etcdStore(etcd!.urls, { prefix: 'stored' });
    },
  },
};

const layouts = {
  sqlite: sqliteLayouts.current,
  postgres: postgresLayouts.current,
  redis: redisLayouts.current,
  etcd: etcdLayouts.current,
};
const kinds = Object.keys(stores) as (keyof typeof stored)[];

describe.each(kinds)('data of other releases in %s', (kind) => {
  const { isHere, numbers, open } = stores[kind];

  it.skipIf(!isHere).each([0, 1])('is refused by a sentence, before a server listens (%d)', async (n) => {
    const words = new RegExp(
      `another release: its layout has number ${numbers[n]}, .* reads ${layouts[kind]} only\\. Use `,
    );
    const opened = await open(bytesOf(stored[kind][n]!));
    if (kind === 'sqlite') {
      expect(opened).toThrow(
        expect.objectContaining({ code: 'UNUSABLE', message: expect.stringMatching(words) }),
      );
      return;
    }
    const store = opened();
    onTestFinished(() => store.close());
    const refused = { code: 'UNUSABLE', message: expect.stringMatching(words) };
    await expect(store.identity()).rejects.toMatchObject(refused);
    await expect(store.load('s', 't')).rejects.toMatchObject(refused);
    const server = createAgentServer({
      card: { name: 'Echo', description: 'Says it again' },
      agent: ({ text }) => reply(text),
      store,
      logger: () => {},
    });
    onTestFinished(() => server.close());
    expect(await server.readiness()).toMatchObject({
      isReady: false,
      reason: 'refused',
      message: expect.stringMatching(words),
    });
    await expect(listen(server)).rejects.toThrow(words);
  });
});

/** For each store: opens the same data each time, and reads the number of its layout after it wrote one, if it is given. */
const numbered: Readonly<
  Record<keyof typeof stored, { open(): Store; layout(number?: number): Promise<unknown> }>
> = {
  sqlite: {
    open: () => sqliteStore(join(folder, 'numbered.db')),
    async layout(number) {
      const db = new DatabaseSync(join(folder, 'numbered.db'));
      if (number) db.exec(`PRAGMA user_version = ${number}`);
      const read = db.prepare('PRAGMA user_version').get();
      db.close();
      return read?.user_version;
    },
  },
  postgres: {
    open: () => postgresStore(postgres!.url, { schema: 'numbered' }),
    async layout(number) {
      const client = new pg.Client({ connectionString: postgres!.url });
      await client.connect();
      const text = `UPDATE numbered.meta SET value = coalesce($1, value) WHERE name = 'version' RETURNING value`;
      const { rows } = await client.query(text, [number]).finally(() => client.end());
      return Number(rows[0].value);
    },
  },
  redis: {
    open: () => redisStore({ url: redis!.url, prefix: 'numbered' }),
    layout: (number) =>
      withRedis(async (client) => {
        if (number) await client.hSet('numbered:layout', 'layout', number);
        return Number(await client.hGet('numbered:layout', 'layout'));
      }),
  },
  etcd: {
    open: () => etcdStore(etcd!.urls, { prefix: 'numbered' }),
    layout: (number) =>
      withEtcd(async (cluster) => {
        const { meta: key } = keysOf('numbered');
        const kept = JSON.parse(String((await cluster.get(key))?.value));
        const value = JSON.stringify({ ...kept, layout: number ?? kept.layout });
        await cluster.transact({ success: [{ put: { key, value } }] });
        return JSON.parse(value).layout;
      }),
  },
};

describe.each(kinds)('data in %s that a newer release brings forward', (kind) => {
  const { open, layout } = numbered[kind];

  it.skipIf(!stores[kind].isHere)(
    'keep their number, and are refused from its next generation on',
    async () => {
      const opened = () => {
        const store = open();
        onTestFinished(() => store.close());
        return store;
      };
      const store = opened();
      const identity = await store.identity();
      const [added, raised] = [layouts[kind] + 1, layouts[kind] + 100];
      onTestFinished(async () => void (await layout(layouts[kind])));
      await layout(added);
      const beside = opened();
      expect([await store.identity(), await beside.identity()]).toEqual([identity, identity]);
      await beside.commit(chunkAfter(0, { taskId: `${process.pid} ${Date.now()}` }));
      expect(await layout()).toBe(added);
      const card = { name: 'Echo', description: 'Says it again' };
      const server = createAgentServer({ card, agent: ({ text }) => reply(text), store, logger: () => {} });
      onTestFinished(() => server.close());
      expect(await server.readiness()).toMatchObject({ isReady: true });
      await layout(raised);
      const refused = { code: 'UNUSABLE', message: expect.stringContaining(`has number ${raised}`) };
      for (const one of [store, beside]) await expect(one.identity()).rejects.toMatchObject(refused);
      await expect
        .poll(() => server.readiness())
        .toMatchObject({ isReady: false, reason: 'refused', message: refused.message });
    },
  );
});

/** One row of each kind, by ids and times that are always the same. */
async function fill(store: Store): Promise<void> {
  const queue = 'q';
  const config = { taskId: 'asks', id: 'w', url: 'https://example.com/' };
  const webhook = { scope: 's', taskId: 'asks', id: 'w', config, protocolVersion: '1.0', queue, cursor: 0 };
  const asks = headAt(1, { state: 'TASK_STATE_INPUT_REQUIRED', labels: ['l'], skills: ['k'] });
  await store.commit(chunkAfter(0, { taskId: 'asks', head: asks, turn: { queue }, once: 'message:m' }));
  await store.putPushConfig(webhook);
  await store.putPushConfig({ ...webhook, id: 'dead' });
  const deliveries = await store.claimDeliveries({ queue, holder: 'h', ttlMs: 60_000, limit: 9 });
  const dead = deliveries.find(({ push }) => push.id === 'dead')!;
  await store.advance(dead, { dead: 'gone' });
  await store.commit(chunkAfter(0, { taskId: 'waits', turn: { queue, want: true, aheadMs: 5 } }));
  const due = headAt(1, { dueAt: '2099-01-01T00:00:00.000Z' });
  await store.commit(chunkAfter(0, { taskId: 'due', head: due, turn: { queue } }));
  const held = { queue: 'held', acquire: { holder: 'h', ttlMs: 60_000 } };
  await store.commit(chunkAfter(0, { taskId: 'held', turn: held }));
  const ended = headAt(1, { closed: true, state: 'TASK_STATE_COMPLETED' });
  await store.commit(chunkAfter(0, { taskId: 'ended', head: ended }));
  await store.commit(chunkAfter(0, { taskId: 'erased', head: ended }));
  await store.erase!('s', 'erased');
  await store.claim({ queue, holder: 'h2', ttlMs: 60_000, limit: 1, schedule: { concurrency: 9 } });
  await store.commit(chunkAfter(0, { taskId: 'later', turn: { queue, want: true, aheadMs: 5 } }));
  await store.take!('b', { burst: 5, everyMs: 3_600_000 });
  await store.putRecord('a/b', 0, { a: 1 }, { ttlMs: 3_600_000, scope: 's' });
}

/** A key or a text without what differs from time to time. */
const masked = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/\d{9,}(\.\d+)?/g, '<number>');

/** The members of JSON and the types of their values; other texts as they are. */
function shapeOf(text: string): unknown {
  const shape = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.slice(0, 1).map(shape)
      : value && typeof value === 'object'
        ? Object.entries(value).map(([name, member]) => [name, shape(member)])
        : typeof value;
  return /^[{[]/.test(text) ? shape(JSON.parse(text)) : masked(text);
}

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** The keys of Redis without prefix, with the fields and entries in each. */
async function redisKeys(): Promise<unknown> {
  const prefix = `layout-${process.pid}`;
  const store = redisStore({ url: redis!.url, prefix });
  await fill(store).finally(() => store.close());
  return withRedis(async (client) => {
    const keys = (await client.keys(`${prefix}:*`)).sort();
    const kept = [];
    for (const key of keys) {
      const type = await client.type(key);
      const content = {
        hash: async () => Object.entries(await client.hGetAll(key)).sort(([a], [b]) => (a < b ? -1 : 1)),
        list: async () => client.lRange(key, 0, -1),
        set: async () => (await client.sMembers(key)).sort(),
        zset: async () => client.zRange(key, 0, -1),
        string: async () => ['string'],
      }[type as 'hash'];
      const parts = (await content()).flat().flatMap((text) => String(text).split('\0').map(shapeOf));
      kept.push([masked(key.slice(prefix.length)), type, parts]);
    }
    await client.del(keys);
    return kept;
  });
}

/** The keys of etcd without prefix, with the shape of each value. */
async function etcdKeys(): Promise<unknown> {
  const prefix = `layout-${process.pid}`;
  const store = etcdStore(etcd!.urls, { prefix });
  await fill(store).finally(() => store.close());
  return withEtcd(async (cluster) => {
    const range = { key: `${prefix}/`, rangeEnd: `${prefix}0` };
    const [{ kvs }] = await cluster.read([range]);
    await cluster.transact({ success: [{ delete: range }] });
    const kept = kvs.map(({ key, value }) => [
      masked(String(key).slice(prefix.length)),
      shapeOf(String(value)),
    ]);
    // The test write, which not every change makes.
    return kept
      .filter(([key]) => key !== '/probe')
      .map((one) => JSON.stringify(one))
      .sort();
  });
}

describe('the number of a layout', () => {
  const raise =
    'What is stored has changed: add a step to `layouts` of this store, and write the digest of the new layout here';

  it.each([
    ['SQLite', true, async () => [layouts.sqlite, digestOf([schema, textSchema])], [900, 'fb205582af9c9f6d']],
    [
      'PostgreSQL',
      true,
      async () => [layouts.postgres, digestOf([tables('s'), textTables('s')])],
      [900, 'cab40717f50d6ccd'],
    ],
    [
      'Redis',
      redis !== undefined,
      async () => [layouts.redis, digestOf(await redisKeys())],
      [900, '898e3b5206b5ccac'],
    ],
    [
      'etcd',
      etcd !== undefined,
      async () => [layouts.etcd, digestOf(await etcdKeys())],
      [900, '8d68991ef7a633ca'],
    ],
  ] as const)('grows with each change of it: %s', async (_store, isHere, found, expected) => {
    if (isHere) expect(await found(), raise).toEqual(expected);
  });
});
