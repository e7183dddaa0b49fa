import { randomUUID } from 'node:crypto';
import { type StoredFact, StoreError, type TaskStore } from '@batonjs/store';
import { follow } from '@batonjs/store-conformance/checks';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { chunkAfter, persist, untilItWorks } from '../../../test/kit/task-logs.ts';
import { canStartEtcd, type EtcdMember, startEtcd } from '../../../test/support/etcd.ts';
import { startStoreProcess } from '../../../test/support/remote-stores.ts';
import { type EtcdStoreOptions, etcdStore } from '../src/index.ts';

// On the disk: what is killed here loses what it has not written.
const cluster = (await canStartEtcd()) ? await startEtcd() : undefined;
afterAll(() => cluster?.stop());

afterEach(async () => {
  for (const member of cluster?.members ?? []) {
    member.resume();
    member.start();
  }
  await cluster?.healthy();
});

function open(prefix: string, options: EtcdStoreOptions = {}, urls = cluster!.urls): TaskStore {
  const store = etcdStore(urls, { prefix, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Two stores on the same new keys. */
function openTwo(options: EtcdStoreOptions = {}): [TaskStore, TaskStore] {
  const prefix = `failures/${randomUUID()}`;
  return [open(prefix, options), open(prefix, options)];
}

const idsOf = (facts: readonly StoredFact[]) => facts.map(({ commitId }) => commitId);
const commitIds = async (store: TaskStore) =>
  idsOf(await untilItWorks(() => store.readFacts('s', 't', 0, 10_000)));
const inOrder = (count: number) => Array.from({ length: count }, (_, n) => `commit ${n + 1}`);
const unavailable = { code: 'UNAVAILABLE' };

/** Everything up to a position, by notifications alone; goes on where etcd could not be reached. */
async function collect(store: TaskStore, until: number): Promise<StoredFact[]> {
  const seen: StoredFact[] = [];
  while (seen.length < until) {
    try {
      for await (const fact of follow(store, 's', 't', seen.length)) {
        seen.push(fact);
        if (seen.length === until) break;
      }
    } catch (error) {
      if (!StoreError.is(error, 'UNAVAILABLE')) throw error;
    }
  }
  return seen;
}

/** Commits one chunk after the other, and calls `disturb` in the middle of those at its positions. */
async function writeAll(store: TaskStore, count: number, disturb: Record<number, () => unknown>) {
  for (let version = 0; version < count; version++) {
    const written = persist(store, chunkAfter(version));
    await Promise.all([written, disturb[version]?.()]);
  }
}

describe.skipIf(!cluster)('When a member is lost', () => {
  it('as the leader, killed in the middle of commits, nothing acknowledged is lost and followers go on', {
    timeout: 300_000,
  }, async () => {
    const [store, second] = openTwo();
    const following = [collect(store, 120), collect(second, 120)];
    const killed: EtcdMember[] = [];
    const kill = async () => {
      const leader = await cluster!.leader();
      killed.push(leader);
      await leader.kill();
    };
    const start = async () => {
      killed.pop()!.start();
      await cluster!.healthy();
    };
    await writeAll(store, 120, { 20: kill, 50: start, 70: kill, 100: start });
    for (const seen of await Promise.all(following)) expect(idsOf(seen)).toEqual(inOrder(120));
    expect(await commitIds(second)).toEqual(inOrder(120));
  });

  it('to which the store is connected, and its connections stay open, calls and watches go on', async () => {
    const [store, second] = openTwo({ timeoutMs: 4_000 });
    await persist(store, chunkAfter(0));
    for (const member of cluster!.members) {
      const from = (await commitIds(second)).length;
      const following = collect(second, from + 20);
      await member.pause();
      for (let version = from; version < from + 20; version++) await persist(store, chunkAfter(version));
      expect(idsOf(await following)).toEqual(inOrder(from + 20));
      member.resume();
      await cluster!.healthy();
    }
  });

  it('that stops for 300 of every 360 ms, every fact is written once', {
    timeout: 300_000,
  }, async () => {
    const [store, second] = openTwo();
    const member = await cluster!.leader();
    let isSlow = true;
    const slow = (async () => {
      while (isSlow) {
        await member.pause();
        await new Promise((resolve) => setTimeout(resolve, 300));
        member.resume();
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    })();
    const facts = repetitions(30, 60);
    await writeAll(store, facts, {});
    isSlow = false;
    await slow;
    expect(await commitIds(second)).toEqual(inOrder(facts));
  });

  it('the lease of a process that does not renew it goes to another one, and its late write is refused', async () => {
    const prefix = `failures/${randomUUID()}`;
    const other = startStoreProcess();
    onTestFinished(() => other.kill());
    const remote = other.open('etcd', cluster!.urls, { prefix });
    const store = open(prefix);
    const turn = { queue: 'q', acquire: { holder: 'a', ttlMs: 1_000 } };
    const { lease } = await untilItWorks(() => remote.commit(chunkAfter(0, { turn })));
    await (await cluster!.leader()).kill();
    const claim = () => store.claim({ queue: 'q', holder: 'b', ttlMs: 60_000, limit: 1 });
    const granted = async () => (await untilItWorks(claim))[0];
    await expect.poll(granted).toMatchObject({ holder: 'b', fence: 2 });
    const late = chunkAfter(1, { writer: lease! });
    await expect(untilItWorks(() => remote.commit(late))).rejects.toMatchObject({ code: 'FENCED' });
  });
});

describe.skipIf(!cluster)('Without a majority', () => {
  type Loss = [string, (member: EtcdMember) => Promise<unknown>, (member: EtcdMember) => void];
  const losses: readonly Loss[] = [
    // They keep their connections: calls are refused by time. Those of members that are gone are refused at once.
    ['two members are cut off', (member) => member.pause(), (member) => member.resume()],
    ['two members are killed', (member) => member.kill(), (member) => member.start()],
  ];
  it.each(losses.slice(0, repetitions(1, 2)))(
    'reads and writes are refused in time, and nothing is lost: %s',
    { timeout: 120_000 },
    async (_what, lose, restore) => {
      const [store, second] = openTwo({ timeoutMs: 2_000 });
      await writeAll(store, 5, {});
      const lost = [await cluster!.leader()];
      lost.push(cluster!.members.find((member) => member !== lost[0])!);
      for (const member of lost) await lose(member);
      const calls = [
        () => store.commit(chunkAfter(5)),
        () => store.load('s', 't'),
        () => store.readFacts('s', 't', 0, 9),
        () => store.list('s', { limit: 1 }),
        () => store.claim({ queue: 'q', holder: 'h', ttlMs: 1_000, limit: 1 }),
        () => store.waiting('q'),
        () => store.probe!(),
        () => store.ping(),
        () => second.subscribe({ queue: 'q' }, () => {}),
      ];
      for (const refused of await Promise.allSettled(calls.map((call) => call())))
        expect(refused).toMatchObject({ status: 'rejected', reason: unavailable });
      for (const member of lost) restore(member);
      await cluster!.healthy();
      // Whether the sixth was written is open until it is asked for: once, in any case.
      await persist(store, chunkAfter(5));
      await persist(store, chunkAfter(6));
      expect(await commitIds(second)).toEqual(inOrder(7));
    },
  );
});

describe.skipIf(!cluster)('While an operator', () => {
  it('compacts and defragments, every fact is written once, and followers and lists see all', {
    timeout: 300_000,
  }, async () => {
    const [store, second] = openTwo();
    const following = collect(second, 150);
    let isWorking = true;
    const maintain = (async () => {
      for (let n = 0; isWorking; n++) {
        const member = cluster!.members[n % 3]!;
        const { header } = await member.ask('kv/range', { key: 'AA==', range_end: 'AA==', limit: 1 });
        const { revision } = header as { revision: string };
        await member.ask('kv/compaction', { revision, physical: true });
        await member.ask('maintenance/defragment').catch(() => {});
      }
    })();
    const list = (async () => {
      while (isWorking) await untilItWorks(() => second.list('s', { limit: 9 }));
    })();
    await writeAll(store, 150, {});
    isWorking = false;
    await Promise.all([maintain, list]);
    expect(idsOf(await following)).toEqual(inOrder(150));
    expect((await second.list('s', { limit: 9 })).tasks[0]?.head.version).toBe(150);
  });
});
