import { completed, inputRequired, type Turn } from '@batonjs/server';
import { systemClock } from '@batonjs/server/internals';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
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
  const canceled: string[] = [];
  const store = {
    async commit({ taskId }: { taskId: string }) {
      canceled.push(taskId);
      return {};
    },
    load: async () => undefined,
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
  return { agent: { store, name: 'agent' }, queries, canceled };
}

const gone = { facts: 5, webhooks: 2 };

describe('tasks that are erased', () => {
  it('are counted with their facts and webhooks; one that has not ended is canceled before, or named', async () => {
    const tasks = { a: [gone], b: ['open', gone], c: ['open', 'open'], d: [undefined] };
    const { agent, queries, canceled } = storeOf(tasks);
    const erased = await eraseTasks(agent, {});
    expect(erased).toEqual({ tasks: 2, facts: 10, webhooks: 4, schedules: 0, left: ['c'] });
    expect(canceled).toEqual(['b', 'c']);
    expect(queries).toStrictEqual(Array.from({ length: 2 }, () => ({ answered: true, limit: 100 })));
  });

  it('are those too that were forked of them meanwhile, and not what else began', async () => {
    const { agent, queries } = storeOf(
      { a: [gone] },
      { fork: ['open', gone], forked: ['open', 'open', 'open', 'open'], new: [gone] },
    );
    const erased = await eraseTasks(agent, {});
    expect([erased.tasks, erased.left, queries.length]).toEqual([2, ['forked'], 3]);
  });

  it('are read page by page, each after the last task of the one before, of one context if it is named', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `t${String(n).padStart(3, '0')}`);
    const { agent, queries } = storeOf(Object.fromEntries(names.map((name) => [name, [gone]])));
    const erased = await eraseTasks(agent, { contextId: 'c' });
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
    const { agent, queries } = storeOf({ a: [gone], b: [gone] });
    const erased = await eraseTasks(agent, { taskId: 'b', contextId: 'c' });
    expect(erased).toEqual({ tasks: 1, ...gone, left: [] });
    expect(queries).toEqual([]);
  });

  it('are none at a store that erases nothing, and the refusal says so', async () => {
    const store = { ...memoryStore(), erase: undefined } as never;
    await expect(eraseTasks({ store, name: 'agent' }, {})).rejects.toMatchObject({
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
    const stored = { store: ending, clock, name: 'agent' };
    return { id: task.id as string, store, stored, sleeps };
  }

  it('wait for the process that ends them, and look every 100 ms', async () => {
    const { id, stored, sleeps, store } = await waiting(3);
    const erased = await eraseTasks(stored, { taskId: id, waitMs: 1_000 });
    expect([erased.tasks, sleeps]).toEqual([1, [100, 100, 100]]);
    const facts = await store.readFacts(scope, id, 0, 99);
    expect(facts.at(-1)?.fact.type).toBe('cancel-requested');
  });

  it('wait so long and no longer, and are named then', async () => {
    const { id, stored, sleeps } = await waiting(Number.POSITIVE_INFINITY);
    const erased = await eraseTasks(stored, { waitMs: 250 });
    expect([erased, sleeps]).toEqual([
      { tasks: 0, facts: 0, webhooks: 0, schedules: 0, left: [id] },
      [100, 100, 100],
    ]);
  });

  it('are waited for no more once it is aborted, and not begun with then', async () => {
    const { id, stored, sleeps } = await waiting(Number.POSITIVE_INFINITY);
    const stop = new AbortController();
    const stopping = {
      ...stored,
      clock: {
        ...stored.clock,
        sleep: async (ms: number) => {
          sleeps.push(ms);
          stop.abort(new Error('Enough'));
        },
      },
    };
    const { left } = await eraseTasks(stopping, { waitMs: 1_000, signal: stop.signal });
    expect([left, sleeps]).toEqual([[id], [100]]);
    await expect(eraseTasks(stored, { waitMs: 1_000, signal: stop.signal })).rejects.toThrow('Enough');
  });

  it('are not waited for where they ended meanwhile, or are gone', async () => {
    const { stored, sleeps } = await waiting(Number.POSITIVE_INFINITY);
    const ended = change(stored.store, {
      commit: () => () => Promise.reject(new StoreError('LOG_CLOSED', 'x')),
    });
    await eraseTasks({ ...stored, store: ended }, { waitMs: 1_000 });
    expect(sleeps).toEqual([]);
    const away = change(stored.store, { load: () => async () => undefined });
    await eraseTasks({ ...stored, store: away }, { waitMs: 1_000 });
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
    await store.putRecord('schedules/agent/own', 0, [], { scope });
    await store.putRecord('other', 0, 1, { scope: 'other' });
    const left = async () => (await store.listRecords({ limit: 999 })).length;
    await eraseTasks(server, { contextId: 'c' });
    await eraseTasks(server, { taskId: 'none' });
    expect(await left()).toBeGreaterThan(150);
    for (const dryRun of [true, false])
      expect(await eraseTasks(server, { dryRun })).toMatchObject({ schedules: 1 });
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
