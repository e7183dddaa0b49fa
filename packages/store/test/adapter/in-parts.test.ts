import { describe, expect, it } from 'vitest';
import { mapRows, Tables } from '../../../../test/add-a-store/map-store.ts';
import { headAt } from '../../../../test/kit/task-logs.ts';
import type { Parts } from '../../src/adapter/rows.ts';
import { createStore, type Wanted } from '../../src/adapter.ts';
import type { TaskStore } from '../../src/index.ts';

const fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' } as const;

describe('a store in parts', () => {
  /** Each part is a store in maps of its own; a task lies in the part that its last digit says. */
  function inParts(count: number, asked: string[] = []) {
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
      read: async (wanted) => {
        asked.push(`read ${partOf(wanted)}`);
        return rows[partOf(wanted)]!.read(wanted);
      },
      change: async (step) => {
        asked.push(`change ${partOf(step.wanted)}`);
        return rows[partOf(step.wanted)]!.change(step);
      },
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

  it('claims only in parts that have something to give, until it has given enough', async () => {
    const asked: string[] = [];
    const store = inParts(3, asked);
    for (const taskId of ['t1', 't2']) await want(store, taskId, { aheadMs: 0 });
    const changes = async (more: object) => {
      asked.length = 0;
      await store.claim({ ...request, ...more });
      return asked.filter((one) => one.startsWith('change')).length;
    };
    expect(await changes({ limit: 1 })).toBe(1);
    expect(await changes({ holder: 'other', schedule: { concurrency: 9 } })).toBe(1);
    expect(await changes({ holder: 'late' })).toBe(0);
    expect(await changes({ holder: 'late', schedule: { concurrency: 9 } })).toBe(0);
  });

  it('begins to claim in any of its parts', async () => {
    const first = new Set<string>();
    // That one of three is never the first has a chance of less than 1 in 10,000,000,000.
    for (let n = 0; n < 60; n++) {
      const store = inParts(3);
      for (const taskId of ['t0', 't1', 't2']) await want(store, taskId);
      for (const { taskId } of await store.claim({ ...request, limit: 1 })) first.add(taskId);
    }
    expect([...first].toSorted()).toEqual(['t0', 't1', 't2']);
  });

  it('is asked once while it has one part', async () => {
    const asked: string[] = [];
    const store = inParts(1, asked);
    await want(store, 't1');
    await store.waiting('q');
    await store.claim(request);
    await store.claimDeliveries(request);
    expect(asked).toEqual(['change 0', 'read 0', 'change 0', 'change 0']);
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

  it('takes a fork back whose origin is gone from another part, and tells its readers so', async () => {
    const store = inParts(2);
    const fork = { ...{ scope: 's', taskId: 't1', commitId: 'c', expectedVersion: 0 }, facts: [fact] };
    const forking = store.commit({ ...fork, head: headAt(1), origin: 't0' });
    await expect(forking).rejects.toMatchObject({ code: 'LOG_DELETED' });
    await expect(store.readFacts('s', 't1', 1, 9, 'c')).rejects.toMatchObject({ code: 'LOG_DELETED' });
  });
});
