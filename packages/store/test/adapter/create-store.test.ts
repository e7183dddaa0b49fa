import { afterEach, describe, expect, it } from 'vitest';
import { mapRows, Tables } from '../../../../test/add-a-store/map-store.ts';
import { headAt } from '../../../../test/kit/task-logs.ts';
import {
  createStore,
  type Found,
  type KeptFacts,
  type KeptLog,
  type Rows,
  search,
} from '../../src/adapter.ts';
import type { PushConfigStore, TaskStore } from '../../src/index.ts';
import { changeOf } from '../../src/rules.ts';
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

  it('says whether its rows search texts, if they may', async () => {
    expect(storeOf({}).searchesText).toBeUndefined();
    for (const isOn of [true, false]) {
      const texts = { isOn: () => isOn, page: () => ({ tasks: [], total: 0 }) };
      expect(await storeOf({ texts }).searchesText!()).toBe(isOn);
    }
  });

  it('claims no more once the tasks of its versions are enough', async () => {
    let claims = 0;
    const store = storeOf({
      change: (() => {
        claims++;
        return [{ taskId: `t${claims}` }];
      }) as never,
    });
    const versions = ['1', '2', '3'];
    const claim = { queue: 'q', holder: 'h', ttlMs: 1, versions };
    expect(await store.claim({ ...claim, limit: 2 })).toMatchObject([{ taskId: 't1' }, { taskId: 't2' }]);
    expect(claims).toBe(2);
    expect(await store.claim({ ...claim, limit: 3 })).toHaveLength(3);
    expect(claims).toBe(5);
    expect(await store.claim({ ...claim, limit: 9 })).toHaveLength(4);
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
  const read = (kept: KeptFacts, after: number, limit = 9, lastCommitId?: string, fullAt?: number) =>
    storeOf({
      change: (step) => changeOf(step, { now: 1, orderNow: 1, leaseNow: 2, fullAt }).result,
      read: () => ({ now: 1, orderNow: 1, leaseNow: 2, records: [undefined] }),
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
    // The deletion of a log is remembered until then.
    for (const [fullAt, code] of [
      [2, 'LOG_DIVERGED'],
      [3, 'LOG_DELETED'],
    ] as const)
      await expect(read({ version: 0, facts: [] }, 2, 9, 'c', fullAt)).rejects.toMatchObject({ code });
    await expect(read({ version: 4, facts: [stored(2), stored(4)] }, 2, 9, 'c')).rejects.toMatchObject({
      code: 'LOG_GAP',
    });
  });
});

it('a search finds what is wanted and nothing else', () => {
  const found = search(
    { tasks: [], webhooks: [], queues: [], callers: [], records: [] },
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

it('a search finds the row of its queue among others', () => {
  const queues = ['p', 'q', 'r'].map((queue, n) => ({ queue, revision: n, turns: n }));
  const all = { tasks: [], webhooks: [], queues, callers: [], records: [] };
  const of = (queue: string) =>
    search(all, { schedule: { queue } }, { now: 1, orderNow: 3, leaseNow: 2 }).schedule?.row;
  expect([of('q'), of('none')]).toEqual([queues[1], undefined]);
});
