import { randomUUID } from 'node:crypto';
import type { TaskStore } from '@batonjs/store';
import { describePushConfigStore, describeTaskStore } from '@batonjs/store-conformance';
import { runCheck, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { chunkAfter, headAt, persist, untilItWorks } from '../../../../test/kit/task-logs.ts';
import { canStart, type RedisServer, startCluster } from '../../../../test/support/redis.ts';
import { Shards } from '../../src/database/database.ts';
import { redisStore } from '../../src/index.ts';

const args = ['--cluster-require-full-coverage', 'no'];
const cluster = (await canStart()) ? await startCluster({ args }) : undefined;
afterAll(() => cluster?.stop());

const opened: TaskStore[] = [];
afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

function open(prefix: string, timeoutMs = 4_000) {
  const store = redisStore({ url: cluster!.urls, prefix, timeoutMs });
  opened.push(store);
  return store;
}

/** The sections whose checks wait for notifications, which another connection of the Cluster gets in its own way. */
const notifying = ['subscribe', 'follow', 'close'];
/** Those whose checks ask several shards. What one shard does, other tests show on one Redis with as many shards. */
const ofSeveralShards = ['list', 'claim', 'waiting', 'prune', 'races', 'for whatever happens'];

describe.skipIf(!cluster)('Redis Cluster', () => {
  const openFromOneNode = () => {
    // The suite asks for one order of turns over all; shards have one each.
    const prefix = `test-${randomUUID()}`;
    // A busy machine answers late: no check is about that.
    const options = { url: cluster!.urls[0], prefix, shards: repetitions(4, 16), timeoutMs: 20_000 };
    const openAgain = () => ({ ...redisStore(options), schedules: false });
    const store = openAgain();
    return {
      store,
      openAgain,
      async reopen() {
        await store.close();
        return openAgain();
      },
    };
  };
  const openTwo = () => {
    const { openAgain, ...opened } = openFromOneNode();
    return { ...opened, second: openAgain() };
  };
  const runs = repetitions(2, 30);
  if (repetitions(0, 1)) describeTaskStore('redisStore', openTwo, { runs });
  // Two of them share one Redis in another file: here most checks do without the connections of the second.
  else
    describe('redisStore', () => {
      const sections = [...notifying, ...ofSeveralShards];
      expect(taskStoreChecks.map(({ section }) => section)).toEqual(expect.arrayContaining(sections));
      for (const check of taskStoreChecks.filter(({ section }) => sections.includes(section))) {
        const open = notifying.includes(check.section) ? openTwo : openFromOneNode;
        it(`${check.section}: ${check.title}`, () => runCheck(check, open, { runs }));
      }
    });
  describePushConfigStore('redisStore', repetitions(0, 1) ? openTwo : openFromOneNode);
});

describe.skipIf(!cluster)('On a Cluster', () => {
  beforeAll(async () => {
    for (const node of cluster!.nodes) await node.cli('FLUSHALL');
  });

  it('tasks are divided into 16 shards over all primaries, each with all of its keys in one slot', async () => {
    const store = open('spread');
    const taskIds = Array.from({ length: 100 }, (_, n) => `t${n}`);
    for (const taskId of taskIds) {
      await store.commit(chunkAfter(0, { taskId, once: 'key', turn: { queue: 'q', want: true } }));
    }
    const shards = new Set<string>();
    for (const node of cluster!.nodes) {
      const keys = (await node.cli('KEYS', 'spread:*')).split('\n').filter((key) => key !== 'spread:layout');
      const here = new Set(keys.map((key) => /^spread:\{(\d+)\}:/.exec(key)?.[1] ?? key));
      expect(here.size).toBeGreaterThan(1);
      for (const shard of here) {
        expect(shards).not.toContain(shard);
        shards.add(shard);
      }
    }
    expect([...shards].map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n));
    expect(await store.waiting('q')).toBe(100);
  });

  it('ListTasks goes through all shards in order, page by page, with one total', async () => {
    const store = open('listed');
    const all = Array.from({ length: 150 }, (_, n) => ({
      taskId: `t${(n * 7919) % 150}`,
      statusAt: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 5)).toISOString(),
    }));
    await Promise.all(
      all.map(({ taskId, statusAt }) =>
        store.commit(chunkAfter(0, { taskId, head: headAt(1, { statusAt }) })),
      ),
    );
    all.sort((a, b) =>
      a.statusAt === b.statusAt ? (a.taskId < b.taskId ? 1 : -1) : a.statusAt < b.statusAt ? 1 : -1,
    );
    for (const limit of [1, 7, 50, 149, 150, 500]) {
      const seen: string[] = [];
      let after: { statusAt: string; taskId: string } | undefined;
      for (;;) {
        const page = await store.list('s', { limit, after });
        expect(page.total).toBe(150);
        for (const { taskId, head } of page.tasks) {
          seen.push(taskId);
          after = { statusAt: head.statusAt, taskId };
        }
        if (page.tasks.length < limit) break;
      }
      expect(seen).toEqual(all.map(({ taskId }) => taskId));
    }
  });

  it('a claim takes from every shard, and each task goes to one of many', async () => {
    const [store, second] = [open('claimed', 30_000), open('claimed', 30_000)];
    const taskIds = Array.from({ length: 60 }, (_, n) => `t${n}`);
    for (const taskId of taskIds) {
      await store.commit(chunkAfter(0, { taskId, turn: { queue: 'q', want: true } }));
    }
    const claims = Array.from({ length: 6 }, (_, n) =>
      (n % 2 ? store : second).claim({ queue: 'q', holder: `h${n}`, ttlMs: 60_000, limit: 10 }),
    );
    const given = (await Promise.all(claims)).flat().map(({ taskId }) => taskId);
    const rest = await store.claim({ queue: 'q', holder: 'last', ttlMs: 60_000, limit: 60 });
    expect([...given, ...rest.map(({ taskId }) => taskId)].sort()).toEqual(taskIds.sort());
  });

  it('while a slot moves its tasks are unavailable and unchanged, and afterwards they go on', async () => {
    const prefix = 'moving';
    const store = open(prefix);
    for (const version of [0, 1, 2]) await store.commit(chunkAfter(version, { once: `key ${version}` }));
    const before = await store.load('s', 't');
    const { base } = new Shards(prefix, 16).of('t');
    const move = await startMoving(base);
    // Half of the shard is here and half is there: a script would find a task without its log.
    await move.keys((key) => key.includes(':task:'));
    const refused = { code: 'UNAVAILABLE', message: expect.stringContaining('TRYAGAIN') };
    await expect(store.commit(chunkAfter(3))).rejects.toMatchObject(refused);
    await expect(store.load('s', 't')).rejects.toMatchObject(refused);
    await expect(store.list('s', { limit: 9 })).rejects.toMatchObject(refused);
    await move.keys((key) => !key.includes(':log:'));
    await expect(store.commit(chunkAfter(3))).rejects.toMatchObject(refused);
    await move.keys(() => true);
    await move.finish();
    expect(await untilItWorks(() => store.load('s', 't'))).toEqual(before);
    await store.commit(chunkAfter(3));
    expect(await store.commit(chunkAfter(3, { once: 'key 1' }))).toEqual({ version: 2, repeated: true });
    expect((await store.list('s', { limit: 9 })).total).toBe(1);
  });

  it('what was given up while a node stood still is not sent when it goes on', async () => {
    const { pid } = cluster!.nodes[2]!;
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(pid, 'SIGCONT'));
    const store = open('late', 2_000);
    const taskIds = Array.from({ length: 40 }, (_, n) => `t${n}`);
    const commits = taskIds.map(async (taskId) => store.commit(chunkAfter(0, { taskId })));
    const outcomes = await Promise.allSettled(commits);
    const refused = taskIds.filter((_, n) => outcomes[n]!.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    process.kill(pid, 'SIGCONT');
    for (const taskId of refused)
      expect(await untilItWorks(() => store.load('s', taskId)), taskId).toBeUndefined();
  });

  it('when a primary dies its tasks are unavailable, others go on, and nothing acknowledged is lost', async () => {
    const store = open('dying', 1_000);
    const taskIds = Array.from({ length: 40 }, (_, n) => `t${n}`);
    for (const taskId of taskIds) await persist(store, chunkAfter(0, { taskId }));
    await cluster!.nodes[1]!.kill();
    const outcomes = await Promise.all(
      taskIds.map((taskId) =>
        Promise.resolve(store.commit(chunkAfter(1, { taskId }))).catch((error) => error.code),
      ),
    );
    expect(new Set(outcomes.filter((outcome) => typeof outcome === 'string'))).toEqual(
      new Set(['UNAVAILABLE']),
    );
    const others = taskIds.filter((_, n) => typeof outcomes[n] !== 'string');
    expect(others.length).toBeGreaterThan(0);
    // Nor does a process that is started now wait for the primary that is gone.
    const later = open('dying', 1_000);
    for (const taskId of others) expect((await untilItWorks(() => later.load('s', taskId)))?.version).toBe(2);
    await cluster!.nodes[1]!.restart();
    for (const taskId of taskIds) await persist(store, chunkAfter(1, { taskId }));
    for (const taskId of taskIds)
      expect((await untilItWorks(() => store.load('s', taskId)))?.version).toBe(2);
    expect((await untilItWorks(() => store.list('s', { limit: 1 }))).total).toBe(40);
  });
});

/** Begins to move the slot of a shard from its node to another one. */
async function startMoving(base: string) {
  const nodes = cluster!.nodes;
  const slot = await nodes[0]!.cli('CLUSTER', 'KEYSLOT', base);
  const counts = await Promise.all(nodes.map((node) => node.cli('CLUSTER', 'COUNTKEYSINSLOT', slot)));
  const from = nodes[counts.findIndex((count) => count !== '0')]!;
  const to = nodes.find((node) => node !== from)!;
  const idOf = (node: RedisServer) => node.cli('CLUSTER', 'MYID');
  await to.cli('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
  await from.cli('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to));
  return {
    async keys(which: (key: string) => boolean) {
      const output = await from.cli('--json', 'CLUSTER', 'GETKEYSINSLOT', slot, '1000');
      const keys = (JSON.parse(output) as string[]).filter(which);
      for (const key of keys) {
        await from.cli('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', key);
      }
    },
    async finish() {
      for (const node of nodes) await node.cli('CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(to));
    },
  };
}
