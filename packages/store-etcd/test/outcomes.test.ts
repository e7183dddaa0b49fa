import { randomUUID } from 'node:crypto';
import type { Commit, TaskStore } from '@batonjs/store';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { chunk, chunkAfter } from '../../../test/kit/task-logs.ts';
import { canStartEtcd, startEtcd } from '../../../test/support/etcd.ts';
import { type EtcdStoreOptions, etcdStore } from '../src/index.ts';
import { startBrokenProxy } from './broken-proxy.ts';

const cluster = (await canStartEtcd()) ? await startEtcd({ inMemory: true }) : undefined;
afterAll(() => cluster?.stop());

function open(prefix: string, options: EtcdStoreOptions = {}, urls = cluster!.urls) {
  const store = etcdStore(urls, { prefix, timeoutMs: 20_000, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A store whose only way to the cluster can lose answers, and another one that sees what happens. */
async function openBehindProxy(options: EtcdStoreOptions = {}) {
  const prefix = `outcomes/${randomUUID()}`;
  const proxy = await startBrokenProxy(cluster!.members[0]!.port);
  onTestFinished(() => proxy.close());
  const store = open(prefix, { timeoutMs: 8_000, ...options }, [proxy.url]);
  return { proxy, store, other: open(prefix) };
}

const commitIds = async (store: TaskStore) =>
  (await store.readFacts('s', 't', 0, 1_000)).map(({ commitId }) => commitId);
const inOrder = (count: number) => Array.from({ length: count }, (_, n) => `commit ${n + 1}`);
const held = { turn: { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } } };
const appended: Commit = {
  scope: 's',
  taskId: 't',
  commitId: 'appended',
  expectedVersion: 'open',
  facts: [chunk(9)],
  once: 'message:9',
};

/** A commit of one fact with so many bytes. */
const ofSize = (version: number, bytes: number) =>
  chunkAfter(version, {
    facts: [{ ...chunk(version + 1), metadata: { text: 'ä'.repeat(bytes / 2) } } as never],
  });

describe.skipIf(!cluster)('A commit whose answer is lost', () => {
  it.each<[string, Commit, object]>([
    ['facts at a position', chunkAfter(1), { version: 2 }],
    ['the first use of a key', chunkAfter(1, { once: 'key' }), { version: 2 }],
    ['facts that are kept in parts', ofSize(1, 2 ** 20), { version: 2 }],
    ['facts wherever the log ends', appended, { version: 2 }],
    [
      'facts and a lease',
      chunkAfter(1, held),
      {
        version: 2,
        lease: { scope: 's', taskId: 't', queue: 'q', holder: 'h', fence: 1, cause: 'committed' },
      },
    ],
  ])('resolves once the log shows by its commitId that it happened: %s', async (_what, commit, committed) => {
    const { proxy, store, other } = await openBehindProxy();
    await store.commit(chunkAfter(0));
    // The row of the log, which the transaction of the commit puts.
    const losing = proxy.loseAnswers('"version":2,', async () => (await other.load('s', 't'))?.version === 2);
    expect(await store.commit(commit)).toEqual(committed);
    await losing;
    expect(await commitIds(other)).toEqual(['commit 1', commit.commitId]);
    // Another writer of the same is not taken for this one.
    if (commit.once) expect(await other.commit(commit)).toEqual({ version: 2, repeated: true });
    else await expect(other.commit(commit)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('resolves for a release, which leaves no fact', async () => {
    const { proxy, store, other } = await openBehindProxy();
    await store.commit(chunkAfter(0, held));
    const turn = { queue: 'q', release: true, want: true };
    const release = chunkAfter(1, { facts: [], head: undefined, turn, writer: { fence: 1, holder: 'h' } });
    const losing = proxy.loseAnswers('"wanted":true', async () => (await other.waiting('q')) === 1);
    expect(await store.commit(release)).toEqual({ version: 1 });
    await losing;
    await expect(other.commit(release)).rejects.toMatchObject({ code: 'FENCED' });
  });

  it('resolves though others have written since: what it put beside the row of the log shows it', async () => {
    const { proxy, store, other } = await openBehindProxy();
    await store.commit(chunkAfter(0));
    const overwritten = async () => {
      if ((await other.load('s', 't'))?.version !== 2) return false;
      await other.commit(chunkAfter(2));
      return true;
    };
    const losing = proxy.loseAnswers('"version":2,', overwritten);
    expect(await store.commit(chunkAfter(1))).toEqual({ version: 2 });
    await losing;
    expect(await commitIds(other)).toEqual(inOrder(3));
  });

  it('may be a deletion, which counts what it deleted', async () => {
    const { proxy, store, other } = await openBehindProxy();
    await store.commit(chunkAfter(0, { head: { ...chunkAfter(0).head!, closed: true } }));
    // Only a deletion names the configs of a log without webhooks.
    const losing = proxy.loseAnswers('/config/', async () => !(await other.load('s', 't')));
    expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 })).toBe(1);
    await losing;
  });

  it('is unavailable if no member answers in time, and the log shows what happened', async () => {
    const { proxy, store, other } = await openBehindProxy({ timeoutMs: 1_500 });
    await store.commit(chunkAfter(0));
    const happened = async () => (await other.load('s', 't'))?.version === 2;
    const losing = proxy.loseAnswers('commit 2', happened, { forever: true });
    await expect(store.commit(chunkAfter(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await losing;
    expect(await commitIds(other)).toEqual(inOrder(2));
  });

  it('is a claim: the lease comes to the holder that asked for it', async () => {
    const { proxy, store, other } = await openBehindProxy();
    await other.commit(chunkAfter(0, { turn: { queue: 'q', want: true } }));
    await store.ping();
    const losing = proxy.loseAnswers('"holder":"h"', async () => (await other.waiting('q')) === 0);
    const leases = await store.claim({ queue: 'q', holder: 'h', ttlMs: 60_000, limit: 3 });
    await losing;
    expect(leases).toMatchObject([{ taskId: 't', holder: 'h', fence: 1 }]);
    expect(await other.renew(leases, 60_000)).toEqual(leases);
  });
});

describe.skipIf(!cluster)('What a process remembers of a task', () => {
  it('is no reason to refuse a commit: another process may have written since', async () => {
    const prefix = `memory/${randomUUID()}`;
    const [store, other] = [open(prefix), open(prefix)];
    await store.commit(chunkAfter(0));
    await other.commit(chunkAfter(1, held));
    const release = { queue: 'q', release: true };
    const writer = { fence: 1, holder: 'h' };
    expect(await store.commit(chunkAfter(2, { writer, turn: release }))).toEqual({ version: 3 });
    expect(await commitIds(other)).toEqual(inOrder(3));
  });
});

describe.skipIf(!cluster)('Commits that arrive together', () => {
  const tasks = Array.from({ length: 60 }, (_, n) => `t${n}`);

  it('share transactions, and one that is refused fails alone', async () => {
    const sizes: number[] = [];
    const prefix = `groups/${randomUUID()}`;
    const [store, other] = [open(prefix, { onGroup: (size) => sizes.push(size) }), open(prefix)];
    await Promise.all(tasks.map((taskId) => store.commit(chunkAfter(0, { taskId }))));
    // The store that did not write remembers nothing of these.
    await other.commit(chunkAfter(1, { taskId: 't7' }));
    sizes.length = 0;
    const outcomes = await Promise.allSettled(tasks.map((taskId) => store.commit(chunkAfter(1, { taskId }))));
    expect(Math.max(...sizes)).toBeGreaterThan(20);
    expect(outcomes.flatMap(({ status }, n) => (status === 'rejected' ? tasks[n]! : []))).toEqual(['t7']);
    expect(outcomes[7]).toMatchObject({ reason: { code: 'VERSION_CONFLICT' } });
    for (const taskId of tasks) expect((await other.load('s', taskId))?.version).toBe(2);
  });

  it('share one of half a MiB at most', async () => {
    const sizes: number[] = [];
    const store = open(`groups/${randomUUID()}`, { onGroup: (size) => sizes.push(size) });
    await store.ping();
    const some = tasks.slice(0, 12).map((taskId) => ({ ...ofSize(0, 200_000), taskId }));
    await Promise.all(some.map((commit) => store.commit(commit)));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(12);
    expect(Math.max(...sizes)).toBe(2);
  });

  it('of one task do not overtake each other', async () => {
    const store = open(`groups/${randomUUID()}`);
    await Promise.all(inOrder(30).map((_, n) => store.commit(chunkAfter(n))));
    expect(await commitIds(store)).toEqual(inOrder(30));
  });
});

describe.skipIf(!cluster)('A fact that is larger than a request of etcd', () => {
  it('is kept in parts, and read as it was', async () => {
    const store = open(`large/${randomUUID()}`);
    const commit = ofSize(0, 5 * 2 ** 20);
    await store.commit(commit);
    await store.commit(chunkAfter(1));
    const facts = await store.readFacts('s', 't', 0, 9);
    expect(facts[0]!.fact).toEqual(commit.facts[0]);
    expect((await store.load('s', 't'))?.facts.map(({ commitId }) => commitId)).toEqual(inOrder(2));
  });

  it('may be a snapshot that is replaced while others load it', async () => {
    const prefix = `large/${randomUUID()}`;
    const [store, other] = [open(prefix), open(prefix)];
    const text = 'x'.repeat(2 ** 20);
    const withSnapshot = (version: number) =>
      chunkAfter(version, { snapshot: { version: version + 1, text } as never });
    await store.commit(withSnapshot(0));
    let isWriting = true;
    const loading = (async () => {
      for (let loads = 0; ; loads++) {
        if (!isWriting) return loads;
        const log = await other.load('s', 't');
        expect(log?.snapshot).toMatchObject({ version: log!.version - log!.facts.length, text });
      }
    })();
    for (let version = 1; version < 12; version++) await store.commit(withSnapshot(version));
    isWriting = false;
    expect(await loading).toBeGreaterThan(0);
    expect(await countParts(prefix)).toBe(2);
  });

  it('leaves nothing behind if its commit is refused, or its log pruned', async () => {
    const prefix = `large/${randomUUID()}`;
    const store = open(prefix);
    await store.commit(chunkAfter(0));
    await expect(store.commit(ofSize(5, 2 ** 20))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    const [reader, writer] = [open(prefix), open(prefix)];
    // Both decide on the same log: one has uploaded its parts in vain.
    await Promise.all([reader.ping(), writer.load('s', 't')]);
    const rivals = [store, reader].map((one, n) => one.commit({ ...ofSize(1, 2 ** 20), commitId: `c${n}` }));
    expect((await Promise.allSettled(rivals)).map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
    // A MiB and what is around it.
    await expect.poll(() => countParts(prefix)).toBe(2);
    const closing = { head: { ...chunkAfter(2).head!, closed: true } };
    await store.commit(chunkAfter(2, closing));
    expect(await store.prune({ closedBefore: '2100-01-01T00:00:00.000Z', limit: 9 })).toBe(1);
    expect(await countParts(prefix)).toBe(0);
  });

  it('is refused beyond 48 MiB, and the error says so', async () => {
    const store = open(`large/${randomUUID()}`);
    await expect(store.commit(ofSize(0, 49 * 2 ** 20))).rejects.toMatchObject({
      code: 'INVALID_COMMIT',
      message: expect.stringContaining('48 MiB'),
    });
    expect(await store.commit(chunkAfter(0))).toEqual({ version: 1 });
  });
});

/** How many parts of large values are kept under a prefix. */
async function countParts(prefix: string): Promise<number> {
  const range = { key: base64(`${prefix}/part/`), range_end: base64(`${prefix}/part0`), count_only: true };
  return Number((await cluster!.members[0]!.ask('kv/range', range)).count ?? 0);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
