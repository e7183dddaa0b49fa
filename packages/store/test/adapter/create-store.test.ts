import { afterEach, describe, expect, it } from 'vitest';
import { mapRows, Tables } from '../../../../test/add-a-store/map-store.ts';
import { headAt } from '../../../../test/kit/task-logs.ts';
import {
  createStore,
  type Found,
  type KeptFacts,
  type KeptLog,
  type Parts,
  type PushConfigStore,
  type Rows,
  search,
  type TaskStore,
  type Wanted,
} from '../../src/index.ts';
import { row } from '../a-row.ts';

const fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' } as const;
const stored = (version: number, commitId = 'c') => ({ version, commitId, fact });

/** A store whose rows answer what a test says, and refuse everything else. */
function storeOf(rows: Partial<Rows>): TaskStore & PushConfigStore {
  const refuse = () => {
    throw new TypeError('Not asked for in this test');
  };
  const names = ['read', 'change', 'log', 'facts', 'page', 'subscribe', 'identity', 'ping', 'close'] as const;
  const all = Object.fromEntries(names.map((name) => [name, refuse])) as unknown as Rows;
  return createStore('of a test', { ...all, encode: JSON.stringify, ...rows });
}

describe('a store', () => {
  it('that is closed waits for the calls under way, and refuses others by name', async () => {
    const answers: (() => void)[] = [];
    let closed = 0;
    const ping = () => new Promise<void>((resolve) => answers.push(resolve));
    const store = storeOf({ ping, close: () => void closed++ });
    const pinging = store.ping();
    const closing = store.close();
    await expect(store.ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The store of a test is closed',
    });
    expect(closed).toBe(0);
    answers[0]!();
    await pinging;
    await Promise.all([closing, store.close()]);
    expect(closed).toBe(1);
  });

  it('rejects with what its rows throw, at once or later', async () => {
    const store = storeOf({
      ping: () => Promise.reject(new Error('later')),
      identity: () => {
        throw new Error('at once');
      },
    });
    await expect(store.ping()).rejects.toThrow('later');
    await expect(store.identity()).rejects.toThrow('at once');
  });

  it('answers a commit at once where its rows do, and never throws', async () => {
    const store = createStore('of a test', mapRows(new Tables(), Date.now));
    const commit = {
      ...{ scope: 's', taskId: 't', commitId: 'c', expectedVersion: 0 },
      facts: [fact],
      head: headAt(1),
    };
    expect(store.commit(commit)).toEqual({ version: 1 });
    await expect(store.commit(commit)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  it('has a probe where its rows have one', async () => {
    expect(storeOf({}).probe).toBeUndefined();
    let probes = 0;
    await storeOf({ probe: () => void probes++ }).probe!();
    expect(probes).toBe(1);
  });

  it('asks for nothing where nothing is named', async () => {
    const store = storeOf({});
    expect(await store.renew([], 1)).toEqual([]);
    await store.retryNow([]);
  });
});

describe('a log', () => {
  const head = headAt(3);
  const load = (kept: Partial<KeptLog> | undefined) =>
    storeOf({ log: () => kept && { row: row({ version: 3, head }), facts: [], ...kept } }).load('s', 't');

  it('is given from its snapshot on', async () => {
    const snapshot = { version: 1 } as never;
    const facts = [stored(2), stored(3)];
    expect(await load({ snapshot, facts })).toEqual({ head, version: 3, snapshot, facts });
    expect(await load({ facts: [stored(1), ...facts] })).toEqual({
      head,
      version: 3,
      facts: [stored(1), ...facts],
    });
    expect(await load(undefined)).toBeUndefined();
    expect(await load({ row: row({ version: 0, head: undefined }) })).toBeUndefined();
  });

  it.each([
    ['1', [stored(2), stored(3)]],
    ['2', [stored(1), stored(3)]],
    ['3', [stored(1), stored(2)]],
    ['1', []],
  ])('without its fact at %s is damaged', async (position, facts) => {
    await expect(load({ facts })).rejects.toMatchObject({
      code: 'UNREADABLE',
      message: `The log is damaged: the fact at ${position} is missing`,
    });
  });
});

describe('facts', () => {
  const asked: number[][] = [];
  afterEach(() => void asked.splice(0));
  const read = (kept: KeptFacts, after: number, limit = 9, lastCommitId?: string) =>
    storeOf({
      facts: (_, __, ...range) => {
        asked.push(range);
        return kept;
      },
    }).readFacts('s', 't', after, limit, lastCommitId);

  it('are those after a position', async () => {
    expect(await read({ version: 3, facts: [stored(2), stored(3)] }, 1)).toEqual([stored(2), stored(3)]);
    expect(await read({ version: 3, facts: [] }, 3)).toEqual([]);
    expect(await read({ version: 0, facts: [] }, 0)).toEqual([]);
    expect(await read({ version: 3, facts: [] }, 1, 0)).toEqual([]);
    expect(asked).toEqual([
      [1, 9],
      [3, 9],
      [0, 9],
      [1, 0],
    ]);
  });

  it.each([
    ['the first ones', [stored(3)]],
    ['one of them', [stored(2), stored(4)]],
    ['all of them', []],
  ])('are a gap without %s', async (_, facts) => {
    await expect(read({ version: 4, facts }, 1)).rejects.toMatchObject({ code: 'LOG_GAP' });
  });

  it('follow the commit that the reader knows', async () => {
    expect(await read({ version: 3, facts: [stored(2), stored(3)] }, 2, 9, 'c')).toEqual([stored(3)]);
    expect(await read({ version: 2, facts: [stored(2)] }, 2, 9, 'c')).toEqual([]);
    expect(asked).toEqual([
      [1, 10],
      [1, 10],
    ]);
    for (const facts of [[], [stored(2, 'other')], [stored(3)]])
      await expect(read({ version: 3, facts }, 2, 9, 'c')).rejects.toMatchObject({
        code: 'LOG_DIVERGED',
        message: 'The log of task t does not hold what it held at 2',
      });
    await expect(read({ version: 4, facts: [stored(2), stored(4)] }, 2, 9, 'c')).rejects.toMatchObject({
      code: 'LOG_GAP',
    });
  });
});

describe('a store in parts', () => {
  /** Each part is a store in maps of its own; a task lies in the part that its last digit says. */
  function inParts(count: number) {
    const tables = Array.from({ length: count }, () => new Tables());
    const rows = tables.map((one) => mapRows(one, Date.now));
    const parts: Parts = { count, of: (taskId) => Number(taskId.at(-1)) % count };
    const partOf = ({ tasks, part }: Wanted): number => {
      const named = new Set(tasks?.map(({ taskId }) => parts.of(taskId)) ?? [part ?? 0]);
      if (named.size !== 1) throw new TypeError('A change of several parts');
      return [...named][0]!;
    };
    const first = rows[0]!;
    return createStore('in parts', {
      ...first,
      parts: async () => parts,
      read: async (wanted) => rows[partOf(wanted)]!.read(wanted),
      change: async (step) => rows[partOf(step.wanted)]!.change(step),
    });
  }

  const want = (store: TaskStore, taskId: string, more: object = {}) =>
    store.commit({
      ...{ scope: 's', taskId, commitId: taskId, expectedVersion: 0, facts: [fact], head: headAt(1) },
      turn: { queue: 'q', want: true, ...more },
    });
  const request = { queue: 'q', holder: 'h', ttlMs: 60_000, limit: 9 };
  const ids = (some: readonly { taskId: string }[]) => some.map(({ taskId }) => taskId).toSorted();
  const all = ['t0', 't1', 't2', 't3', 't4', 't5'];

  it('gives out what waits in all of them, and what a holder has first', async () => {
    const store = inParts(3);
    for (const taskId of all) await want(store, taskId);
    expect(await store.waiting('q')).toBe(6);
    const given = await store.claim({ ...request, limit: 4 });
    expect(given.length).toBe(4);
    const again = await store.claim({ ...request, limit: 5 });
    expect(ids(again.filter(({ cause }) => cause === 'held'))).toEqual(ids(given));
    expect(again.length).toBe(5);
    expect((await store.claim({ ...request, holder: 'i' })).length).toBe(1);
    expect(ids(await store.renew(given, 1_000))).toEqual(ids(given));
    expect(await store.waiting('q')).toBe(0);
  });

  it('lets no more turns run than a schedule says, of all parts together', async () => {
    const store = inParts(3);
    for (const taskId of all) await want(store, taskId, { aheadMs: 0 });
    const claim = (holder: string) => store.claim({ ...request, holder, schedule: { concurrency: 4 } });
    expect((await claim('a')).length).toBe(4);
    expect(await claim('b')).toEqual([]);
    const other = inParts(3);
    for (const taskId of all) await want(other, taskId, { aheadMs: 0 });
    expect((await other.claim({ ...request, schedule: { perCaller: 2 } })).length).toBe(2);
  });

  it('delivers, revives and deletes in all of them', async () => {
    const store = inParts(2);
    for (const taskId of all) {
      await store.putPushConfig({
        ...{ scope: 's', taskId, id: 'w', config: { id: 'w', taskId, url: 'https://example.com' } },
        ...{ protocolVersion: '1.0', queue: 'q', cursor: 0 },
      });
      await want(store, taskId);
    }
    const deliveries = await store.claimDeliveries({ ...request, limit: 5 });
    expect(deliveries.length).toBe(5);
    for (const delivery of deliveries) await store.advance(delivery, { dead: 'no' });
    expect((await store.listDead('q', { limit: 9 })).map(({ taskId }) => taskId)).toEqual(
      ids(deliveries.map(({ push }) => push)),
    );
    expect((await store.listDead('q', { limit: 2 })).length).toBe(2);
    const [last] = await store.claimDeliveries(request);
    await store.advance(last!, { retryAt: '2030-01-01T00:00:00.000Z', attempts: 1 });
    await store.retryNow(all.map((taskId) => ({ scope: 's', taskId, id: 'w' })));
    expect((await store.claimDeliveries(request)).map(({ push }) => push.taskId)).toEqual([
      last!.push.taskId,
    ]);
    const head = headAt(2, { closed: true });
    for (const taskId of all)
      await store.commit({ scope: 's', taskId, commitId: 'end', expectedVersion: 1, facts: [fact], head });
    const prune = (limit: number) => store.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit });
    expect([await prune(4), await prune(4), await prune(4)]).toEqual([4, 1, 0]);
  });
});

it('a search finds what is wanted and nothing else', () => {
  const found = search(
    { tasks: [], webhooks: [], queues: [], callers: [] },
    { bucket: 'b' },
    { now: 1, orderNow: 3, leaseNow: 2 },
  );
  const { now, orderNow, leaseNow, ...rest } = found;
  expect([
    now,
    orderNow,
    leaseNow,
    Object.values(rest as Partial<Found>).every((one) => one === undefined),
  ]).toEqual([1, 3, 2, true]);
});
