import { completed, inputRequired, type Turn } from '@batonjs/server';
import { systemClock } from '@batonjs/server/internals';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eraseIn } from '../src/erase-in.ts';
import { eraseStored } from '../src/erase-stored.ts';
import { eraseTasks } from '../src/erase-tasks.ts';

const agent = async function* ({ text }: Turn) {
  yield text === 'ask' ? inputRequired('What?') : completed();
};

/**
 * A store that holds these tasks: each is erased as many times as it says until it is gone. `later`: those that begin after
 * the first list; the ids of forks begin with `fork`.
 */
function storeOf(
  tasks: Readonly<Record<string, readonly unknown[]>>,
  later: Readonly<Record<string, readonly unknown[]>> = {},
) {
  const left = new Map(Object.entries({ ...tasks, ...later }).map(([id, answers]) => [id, [...answers]]));
  const queries: object[] = [];
  const store = {
    async erase(_scope: string, id: string) {
      return left.get(id)?.shift();
    },
    async list(_scope: string, query: { limit: number; after?: { taskId: string } }) {
      queries.push(query);
      const there = query.after || queries.length === 1 ? Object.keys(tasks) : [...left.keys()];
      const ids = there.filter(
        (id) => left.get(id)?.length && (query.after === undefined || id > query.after.taskId),
      );
      return {
        tasks: ids.slice(0, query.limit).map((taskId) => ({ taskId, head: { statusAt: `at ${taskId}` } })),
        total: 0,
      };
    },
    readFacts: async (_scope: string, id: string) => [
      { fact: { type: 'message-received', ...(id.startsWith('fork') && { forked: { taskId: 'a' } }) } },
    ],
    listRecords: async () => [],
  } as unknown as TaskStore;
  return { store, queries };
}

const gone = { facts: 5, webhooks: 2 };

describe('tasks that are erased', () => {
  it('are counted with their facts and webhooks; one that has not ended is canceled before, or named', async () => {
    const { store, queries } = storeOf({ a: [gone], b: ['open', gone], c: ['open', 'open'], d: [undefined] });
    const canceled: string[] = [];
    const erased = await eraseIn('s', {}, { store, queue: 'agent' }, async (id) => void canceled.push(id));
    expect(erased).toEqual({ tasks: 2, facts: 10, webhooks: 4, left: ['c'] });
    expect(canceled).toEqual(['b', 'c']);
    expect(queries).toStrictEqual(Array.from({ length: 2 }, () => ({ answered: true, limit: 100 })));
  });

  it('are those too that were forked of them meanwhile, and not what else began', async () => {
    const { store, queries } = storeOf(
      { a: [gone] },
      { fork: ['open', gone], forked: ['open', 'open', 'open', 'open'], new: [gone] },
    );
    const erased = await eraseIn('s', {}, { store, queue: 'agent' }, async () => {});
    expect([erased.tasks, erased.left, queries.length]).toEqual([2, ['forked'], 3]);
  });

  it('are read page by page, each after the last task of the one before, of one context if it is named', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `t${String(n).padStart(3, '0')}`);
    const { store, queries } = storeOf(Object.fromEntries(names.map((name) => [name, [gone]])));
    const erased = await eraseIn('s', { contextId: 'c' }, { store, queue: 'agent' }, async () => {});
    expect(erased.tasks).toBe(200);
    const page = { answered: true, limit: 100, contextId: 'c' };
    expect(queries).toStrictEqual([
      page,
      { ...page, after: { statusAt: 'at t099', taskId: 't099' } },
      { ...page, after: { statusAt: 'at t199', taskId: 't199' } },
      page,
    ]);
  });

  it('are one, where one is named: nothing is listed', async () => {
    const { store, queries } = storeOf({ a: [gone], b: [gone] });
    expect(
      await eraseIn('s', { taskId: 'b', contextId: 'c' }, { store, queue: 'agent' }, async () => {}),
    ).toEqual({
      tasks: 1,
      ...gone,
      left: [],
    });
    expect(queries).toEqual([]);
  });

  it('are none at a store that erases nothing, and the refusal says so', async () => {
    await expect(
      eraseIn('s', {}, { store: {} as TaskStore, queue: 'agent' }, async () => {}),
    ).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'The store erases no tasks',
    });
  });
});

describe('tasks that are erased by their store alone', () => {
  /** A store with a task that asks, whose end `after` so many looks arrives; and what was slept between them. */
  async function waiting(after: number) {
    const store = memoryStore();
    const server = serve(agent, { store });
    const { task } = await rpc(server, 'SendMessage', { message: say('ask') });
    await server.close();
    let now = 0;
    const sleeps: number[] = [];
    const clock = {
      ...systemClock,
      monotonic: () => now,
      sleep: async (ms: number) => {
        sleeps.push(ms);
        now += ms;
      },
    };
    let looks = 0;
    const ending = change(store, {
      load: (load) => async (at, id) => {
        const log = await load(at, id);
        looks += 1;
        return looks > after && log ? { ...log, head: { ...log.head, closed: true } } : log;
      },
      erase: (erase) => async (at, id) => (looks > after ? gone : erase!(at, id)),
    });
    const source = { store: ending, clock, queue: 'agent' };
    return { id: task.id as string, store, source, sleeps };
  }

  it('wait for the process that ends them, and look every 100 ms', async () => {
    const { id, source, sleeps, store } = await waiting(3);
    const erased = await eraseStored(scope, { taskId: id }, { waitMs: 1_000 }, source);
    expect([erased.tasks, sleeps]).toEqual([1, [100, 100, 100]]);
    const facts = await store.readFacts(scope, id, 0, 99);
    expect(facts.at(-1)?.fact.type).toBe('cancel-requested');
  });

  it('wait so long and no longer, and are named then', async () => {
    const { id, source, sleeps } = await waiting(Number.POSITIVE_INFINITY);
    const erased = await eraseStored(scope, {}, { waitMs: 250 }, source);
    expect([erased, sleeps]).toEqual([{ tasks: 0, facts: 0, webhooks: 0, left: [id] }, [100, 100, 100]]);
  });

  it('are waited for no more once it is aborted, and not begun with then', async () => {
    const { id, source, sleeps } = await waiting(Number.POSITIVE_INFINITY);
    const stop = new AbortController();
    const stopping = {
      ...source,
      clock: {
        ...source.clock,
        sleep: async (ms: number) => {
          sleeps.push(ms);
          stop.abort(new Error('Enough'));
        },
      },
    };
    const { left } = await eraseStored(scope, {}, { waitMs: 1_000, signal: stop.signal }, stopping);
    expect([left, sleeps]).toEqual([[id], [100]]);
    await expect(eraseStored(scope, {}, { waitMs: 1_000, signal: stop.signal }, source)).rejects.toThrow(
      'Enough',
    );
  });

  it('are not waited for where they ended meanwhile, or are gone', async () => {
    const { source, sleeps } = await waiting(Number.POSITIVE_INFINITY);
    const ended = change(source.store, {
      commit: () => () => Promise.reject(new StoreError('LOG_CLOSED', 'x')),
    });
    await eraseStored(scope, {}, { waitMs: 1_000 }, { ...source, store: ended });
    expect(sleeps).toEqual([]);
    const away = change(source.store, { load: () => async () => undefined });
    await eraseStored(scope, {}, { waitMs: 1_000 }, { ...source, store: away });
    expect(sleeps).toEqual([]);
  });

  it('have the clock of the system by default', async () => {
    const store = memoryStore();
    const server = serve(agent, { store });
    await rpc(server, 'SendMessage', { message: say('done') });
    expect(await eraseTasks({ store, name: 'agent' }, { waitMs: 1 })).toMatchObject({
      tasks: 1,
    });
  });
});

describe('a server that erases', () => {
  /** A server with a task that asks, whose cancel is refused so. */
  async function refusing(error: Error) {
    const store = memoryStore();
    const first = serve(agent, { store });
    const { task } = await rpc(first, 'SendMessage', { message: say('ask') });
    await first.close();
    const server = serve(agent, {
      store: change(store, { commit: () => () => Promise.reject(error) }),
      timeouts: { cancelMs: 1, cancelGraceMs: 1 },
    });
    return { server, id: task.id as string };
  }

  it('names a task that cannot be canceled, and fails with what else goes wrong', async () => {
    const ended = await refusing(new StoreError('LOG_CLOSED', 'x'));
    expect(await eraseTasks(ended.server, {})).toMatchObject({ tasks: 0, left: [ended.id] });
    const damaged = await refusing(new StoreError('UNREADABLE', 'It is damaged'));
    await expect(eraseTasks(damaged.server, {})).rejects.toThrow('It is damaged');
  });

  it('erases the records of a caller with all of its tasks, and none with some of them', async () => {
    const store = memoryStore();
    const server = serve(agent, { store });
    const context = say('done', { contextId: 'c' });
    await rpc(server, 'SendMessage', { message: context });
    for (let n = 0; n < 150; n += 1) await store.putRecord(`own/${n}`, 0, n, { scope });
    await store.putRecord('other', 0, 1, { scope: 'other' });
    const left = async () => (await store.listRecords({ limit: 999 })).length;
    await eraseTasks(server, { contextId: 'c' });
    await eraseTasks(server, { taskId: 'none' });
    expect(await left()).toBeGreaterThan(150);
    await eraseTasks(server, {});
    expect((await store.listRecords({ limit: 9 })).map(({ name }) => name)).toEqual([
      'other',
      'queue-owners/agent',
    ]);
  });

  it('erases for one caller and tenant alone', async () => {
    const server = serve(agent, { authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? '' }) });
    for (const caller of ['ada', 'bob'])
      await rpc(server, 'SendMessage', { message: say('done'), tenant: 'eu' }, { 'x-caller': caller });
    expect(await eraseTasks(server, { caller: 'ada' })).toMatchObject({ tasks: 0 });
    expect(await eraseTasks(server, { caller: 'ada', tenant: 'eu' })).toMatchObject({ tasks: 1 });
    expect(await eraseTasks(server, { caller: 'bob', tenant: 'eu' })).toMatchObject({ tasks: 1 });
  });
});
