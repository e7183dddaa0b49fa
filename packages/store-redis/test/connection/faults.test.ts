import { type Commit, type StoredFact, StoreError, type TaskStore } from '@batonjs/store';
import { follow } from '@batonjs/store-conformance/checks';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { pauseProcess } from '../../../../test/kit/processes.ts';
import { chunkAfter, headAt, persist, untilItWorks } from '../../../../test/kit/task-logs.ts';
import { canStart, startRedis } from '../../../../test/support/redis.ts';
import { startStoreProcess } from '../../../../test/support/remote-stores.ts';
import { startTcpProxy, type TcpProxy } from '../../../../test/support/tcp-proxy.ts';
import { redisStore } from '../../src/index.ts';

const redis = (await canStart()) ? await startRedis({ appendfsync: 'always' }) : undefined;
afterAll(() => redis?.stop());

const opened: TaskStore[] = [];
const proxies: TcpProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
  for (const store of opened.splice(0)) await store.close();
  await redis!.cli('FLUSHALL');
});

function open({ port = redis!.port, timeoutMs = 1_000 } = {}) {
  const store = redisStore({ url: `redis://127.0.0.1:${port}`, timeoutMs });
  opened.push(store);
  return store;
}

/** A store with the patience of a production system, for what a test only prepares. */
const openPatient = () => open({ timeoutMs: 10_000 });

async function openBehindProxy() {
  const proxy = await startTcpProxy(redis!.port);
  proxies.push(proxy);
  const store = open({ port: proxy.port });
  await untilItWorks(() => store.load('s', 't'));
  return { proxy, store };
}

const held = (holder: string, ttlMs = 60_000) => ({ turn: { queue: 'q', acquire: { holder, ttlMs } } });
const closing = (version: number): Partial<Commit> => ({
  head: headAt(version + 1, { closed: true, state: 'TASK_STATE_COMPLETED' }),
});

/** Everything from the beginning until that position, by notifications alone; goes on where Redis could not be reached. */
async function collect(store: TaskStore, until: number): Promise<StoredFact[]> {
  const seen: StoredFact[] = [];
  while (seen.length < until) {
    const facts = follow(store, 's', 't', seen.length);
    try {
      for await (const fact of facts) {
        seen.push(fact);
        if (seen.length === until) break;
      }
    } catch (error) {
      if (!StoreError.is(error, 'UNAVAILABLE')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return seen;
}

const inOrder = (until: number) => Array.from({ length: until }, (_, n) => `commit ${n + 1}`);
const idsOf = (facts: readonly StoredFact[]) => facts.map(({ commitId }) => commitId);

async function expectWhole(store: TaskStore, until: number) {
  const log = await untilItWorks(() => store.load('s', 't'));
  expect(idsOf(log!.facts)).toEqual(inOrder(until));
  expect(log!.head.version).toBe(until);
}

describe.skipIf(!redis)('While Redis stands still', () => {
  it('a commit waits, and is written once', async () => {
    const store = openPatient();
    await store.commit(chunkAfter(0));
    await redis!.cli('CLIENT', 'PAUSE', '200');
    expect(await store.commit(chunkAfter(1))).toEqual({ version: 2 });
    await expectWhole(store, 2);
  });

  it('calls reject in bounded time, and what was sent meanwhile is there once or not at all', async () => {
    const store = open({ timeoutMs: 300 });
    await persist(store, chunkAfter(0));
    await pauseProcess(redis!.pid);
    const calls = [
      store.commit(chunkAfter(1)),
      store.load('s', 't'),
      store.list('s', { limit: 1 }),
      store.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 }),
      store.waiting('q'),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    process.kill(redis!.pid, 'SIGCONT');
    await persist(store, chunkAfter(1));
    await persist(store, chunkAfter(2));
    await expectWhole(store, 3);
  });
});

describe.skipIf(!redis)('When connections are killed', () => {
  it('every fact is written once and in order, and followers see it so', async () => {
    const [store, second] = [open(), open()];
    const following = [collect(store, 200), collect(second, 200)];
    for (let version = 0; version < 200; version++) {
      const written = persist(store, chunkAfter(version));
      if (version % 20 === 10) await redis!.cli('CLIENT', 'KILL', 'TYPE', 'normal');
      if (version % 20 === 15) await redis!.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await written;
    }
    for (const seen of await Promise.all(following)) expect(idsOf(seen)).toEqual(inOrder(200));
    await expectWhole(second, 200);
  });

  it('a commit after the script was forgotten is one commit', async () => {
    const store = openPatient();
    await store.commit(chunkAfter(0));
    await redis!.cli('SCRIPT', 'FLUSH');
    expect(await store.commit(chunkAfter(1))).toEqual({ version: 2 });
    await expectWhole(store, 2);
  });
});

describe.skipIf(!redis)('When Redis is killed and started again', () => {
  it('nothing that was acknowledged is lost, nothing is twice, and followers go on', async () => {
    const [store, second] = [open(), open()];
    const following = collect(second, 300);
    const { lease } = await openPatient().commit(chunkAfter(0, held('h')));
    const writer = { fence: lease!.fence, holder: 'h' };
    let restarting: Promise<void> | undefined;
    for (let version = 1; version < 300; version++) {
      const written = persist(store, chunkAfter(version, { writer }));
      if (version % 100 === 50) restarting = redis!.restart();
      await Promise.all([written, restarting]);
    }
    expect(idsOf(await following)).toEqual(inOrder(300));
    await expectWhole(store, 300);
    expect(await untilItWorks(() => store.renew([lease!], 60_000))).toEqual([lease]);
  });

  it('the acknowledged writes of another process are not lost either', async () => {
    const other = startStoreProcess();
    const remote = other.open('redis', { url: redis!.url });
    let acknowledged = 0;
    const writing = (async () => {
      for (;;) {
        await remote.commit(chunkAfter(acknowledged));
        acknowledged++;
      }
    })().catch((error) => error);
    const store = open();
    while (acknowledged < 50) await new Promise((resolve) => setImmediate(resolve));
    await redis!.kill();
    expect(await writing).toMatchObject({ code: 'UNAVAILABLE' });
    await redis!.restart();
    const facts = await untilItWorks(() => store.readFacts('s', 't', 0, 1e6));
    expect(facts.length).toBeGreaterThanOrEqual(acknowledged);
    expect(facts.length).toBeLessThanOrEqual(acknowledged + 1);
    expect(idsOf(facts)).toEqual(inOrder(facts.length));
    await other.kill();
  });
});

describe.skipIf(!redis)('When Redis has lost what it kept', () => {
  it('no process goes on writing to a log that was lost', async () => {
    const store = openPatient();
    const { lease } = await store.commit(chunkAfter(0, held('h')));
    await store.commit(chunkAfter(1));
    await redis!.restart({ empty: true });
    const writer = { fence: lease!.fence, holder: 'h' };
    const refused = (commit: Commit) => untilItWorks(() => store.commit(commit));
    await expect(refused(chunkAfter(2, { writer }))).rejects.toMatchObject({ code: 'FENCED' });
    await expect(refused(chunkAfter(2))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    const open_ = { ...chunkAfter(2), expectedVersion: 'open', head: undefined, once: 'cancel' } as const;
    await expect(refused(open_)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(await store.readFacts('s', 't', 2, 9)).toEqual([]);
    expect(await store.renew([lease!], 1_000)).toEqual([]);
    expect(await store.load('s', 't')).toBeUndefined();
  });

  it('its emptiness is noticed: the number of shards is kept again', async () => {
    const store = redisStore({ url: redis!.url, shards: 3 });
    opened.push(store);
    await store.commit(chunkAfter(0));
    await redis!.restart({ empty: true });
    await untilItWorks(() => store.waiting('q'));
    expect(await redis!.cli('HGET', 'baton:layout', 'shards')).toBe('3');
  });
});

describe.skipIf(!redis)('When Redis cannot write', () => {
  it('a commit is unavailable and leaves nothing behind where memory is full', async () => {
    const store = openPatient();
    await store.commit(chunkAfter(0));
    const before = await store.load('s', 't');
    await redis!.cli('CONFIG', 'SET', 'maxmemory', '1');
    const full = { code: 'UNAVAILABLE', message: expect.stringContaining('OOM') };
    const more = chunkAfter(1, { once: 'key', turn: { queue: 'q', want: true } });
    await expect(store.commit(more)).rejects.toMatchObject(full);
    expect(await store.load('s', 't')).toEqual(before);
    await redis!.cli('CONFIG', 'SET', 'maxmemory', '0');
    expect(await store.commit(more)).toEqual({ version: 2 });
  });

  it('it is found where it was moved to: a replica that was made the primary', async () => {
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(redis!.port)] });
    const store = redisStore({ url: [redis!.url, replica.url] });
    opened.push(store);
    await store.commit(chunkAfter(0));
    while (!(await replica.cli('INFO', 'replication')).includes('master_link_status:up')) {}
    while ((await replica.cli('EXISTS', 'baton:{0}:log:t\0s')) !== '1') {}
    await replica.cli('REPLICAOF', 'NO', 'ONE');
    await redis!.cli('REPLICAOF', '127.0.0.1', String(replica.port));
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await persist(store, chunkAfter(1));
    expect(await replica.cli('LLEN', 'baton:{0}:log:t\0s')).toBe('2');
    await redis!.cli('REPLICAOF', 'NO', 'ONE');
    await replica.stop();
  });
});

describe.skipIf(!redis)('When the network between one process and Redis is cut', () => {
  it('its calls reject in bounded time while others work, and it works again afterwards', async () => {
    const { proxy, store } = await openBehindProxy();
    const other = openPatient();
    await other.commit(chunkAfter(0));
    proxy.freeze();
    for (const call of [
      store.commit(chunkAfter(1)),
      store.load('s', 't'),
      store.subscribe({ queue: 'q' }, () => {}),
    ])
      await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(store.load('s', 't')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect((await other.load('s', 't'))?.version).toBe(1);
    proxy.thaw();
    await persist(store, chunkAfter(1));
    await persist(store, chunkAfter(2));
    await expectWhole(other, 3);
  });

  it('its lease goes to another process, and what it wrote late is refused', async () => {
    const { proxy, store } = await openBehindProxy();
    const other = openPatient();
    const { lease } = await other.commit(chunkAfter(0, held('cut off', 200)));
    proxy.freeze();
    const late = chunkAfter(1, { commitId: 'late', writer: { fence: lease!.fence, holder: 'cut off' } });
    const writing = Promise.resolve(store.commit(late)).catch((error) => error);
    const claim = () => other.claim({ queue: 'q', holder: 'next', ttlMs: 60_000, limit: 1 });
    let [taken] = await claim();
    while (!taken) [taken] = await claim();
    expect(taken).toMatchObject({ holder: 'next', fence: 2, cause: 'expired' });
    expect(await writing).toMatchObject({ code: 'UNAVAILABLE' });
    await other.commit(chunkAfter(1, { writer: taken }));
    // What was on its way when the network was cut arrives now, too late.
    proxy.thaw();
    await expect(untilItWorks(() => store.commit(late))).rejects.toMatchObject({ code: 'FENCED' });
    expect(await store.renew([lease!], 1_000)).toEqual([]);
    await other.commit(chunkAfter(2, { writer: taken, ...closing(2) }));
    await expectWhole(store, 3);
  });

  it('its followers are notified of what they missed', async () => {
    const { proxy, store } = await openBehindProxy();
    const other = openPatient();
    await other.commit(chunkAfter(0));
    const following = collect(store, 2);
    // Resolves when the follower listens too, because one connection serves all.
    await untilItWorks(() => store.subscribe({ queue: 'q' }, () => {}));
    await untilItWorks(() => store.load('s', 't'));
    proxy.freeze();
    await other.commit(chunkAfter(1));
    proxy.cut();
    proxy.thaw();
    expect(idsOf(await following)).toEqual(inOrder(2));
  });

  it('a subscription that fell silent is made again, though no call is made', async () => {
    const { proxy, store } = await openBehindProxy();
    const notified = Promise.withResolvers<number | undefined>();
    await untilItWorks(() => store.subscribe({ scope: 's', taskId: 't' }, notified.resolve));
    proxy.freeze();
    await proxy.nextClient();
    proxy.thaw();
    expect(await notified.promise).toBeUndefined();
  });

  it('connections that are cut and taken again at once cost nothing but a moment', async () => {
    const { proxy, store } = await openBehindProxy();
    for (let version = 0; version < 60; version++) {
      const written = persist(store, chunkAfter(version));
      if (version % 10 === 5) proxy.cut();
      await written;
    }
    await expectWhole(store, 60);
  });
});
