import type { Message } from '@batonjs/protocol';
import {
  type AgentServer,
  type AgentServerOptions,
  completed,
  failed,
  inputRequired,
  type Turn,
  working,
} from '@batonjs/server';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { bulkTasks } from '../src/bulk-tasks.ts';
import { type BulkProgress, bulkRuns } from '../src/index.ts';

/** An agent that asks, fails, works on or completes, as its message says. */
const agent = async function* ({ text, signal }: Turn) {
  yield { ...working(), labels: [text, 'all'] };
  if (text === 'ask') yield inputRequired('What?');
  if (text === 'fail') yield failed({ code: 'NO_FUNDS', message: 'No funds' });
  if (text === 'work') await new Promise((_, reject) => signal.addEventListener('abort', reject));
  yield completed();
};

const configuration = { returnImmediately: true };
const send = async (server: AgentServer, texts: readonly string[], more: Partial<Message> = {}) => {
  for (const text of texts) await rpc(server, 'SendMessage', { message: say(text, more), configuration });
  const works = texts.filter((text) => text === 'work').length;
  await eventually(async () =>
    expect([await total(server, 'SUBMITTED'), await total(server, 'WORKING')]).toEqual([0, works]),
  );
};
const many = (text: string, count: number) => Array.from({ length: count }, () => text);
const total = async (server: AgentServer, state: string): Promise<number> =>
  (await rpc(server, 'ListTasks', { status: `TASK_STATE_${state}` })).totalSize;
const ends = (server: AgentServer, state: string, count: number) =>
  eventually(async () => expect(await total(server, state)).toBe(count));

/** Runs to the end, and resolves to the last progress, with all outcomes. */
async function all(run: AsyncIterable<BulkProgress>) {
  let last: BulkProgress | undefined;
  const tasks = [];
  for await (const progress of run) {
    last = progress;
    tasks.push(...progress.tasks);
  }
  return { ...last!, tasks };
}

describe('many tasks', () => {
  it('are canceled by their labels and states, and others left alone', async () => {
    const server = serve(agent);
    await send(server, [...many('ask', 120), ...many('work', 5), 'fail', 'done']);
    const dry = await all(bulkTasks(server, { action: 'cancel', labels: ['ask'], dryRun: true }));
    expect(dry).toMatchObject({ id: '', total: 120, done: 120, isOver: true });
    expect(await total(server, 'CANCELED')).toBe(0);
    const { tasks, ...progress } = await all(bulkTasks(server, { action: 'cancel', labels: ['ask'] }));
    expect(progress).toMatchObject({
      action: 'cancel',
      total: 120,
      done: 120,
      skipped: 0,
      failed: 0,
      isOver: true,
    });
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(120);
    await ends(server, 'CANCELED', 120);
    expect(await total(server, 'WORKING')).toBe(5);
    const rest = await all(
      bulkTasks(server, { action: 'cancel', labels: ['all'], state: 'TASK_STATE_WORKING' }),
    );
    expect(rest).toMatchObject({ total: 5, done: 5 });
    await ends(server, 'CANCELED', 125);
  });

  it('are forked by their code, once each, however often the run is repeated', async () => {
    const store = memoryStore();
    const server = serve(agent, { store });
    await send(server, [...many('fail', 110), ...many('ask', 3)]);
    const asked = { action: 'fork', state: 'TASK_STATE_FAILED', code: 'NO_FUNDS', by: 'ada' } as const;
    const { done, tasks, id } = await all(bulkTasks(server, asked));
    expect([done, new Set(tasks.map(({ forkId }) => forkId)).size]).toEqual([110, 110]);
    await ends(server, 'FAILED', 220);
    const [run] = await bulkRuns(store, 'agent');
    expect(run).toMatchObject({ id, request: asked, isOver: true, cursor: { done: 110 } });
    await expect(all(bulkTasks(server, { resume: id }))).rejects.toThrow('The run has ended');
  });

  it('are deleted when they have ended, and no others', async () => {
    const server = serve(agent);
    await send(server, [...many('done', 105), 'fail', 'ask']);
    expect(await all(bulkTasks(server, { action: 'delete' }))).toMatchObject({
      total: 106,
      done: 106,
      isOver: true,
    });
    expect((await rpc(server, 'ListTasks', {})).totalSize).toBe(1);
  });

  it('have their webhooks tried again', async () => {
    const store = memoryStore();
    const server = serve(agent, { store });
    await send(server, many('ask', 3));
    const { tasks } = await store.list(scope, { limit: 9 });
    for (const { taskId } of tasks.slice(0, 2)) {
      const config = { id: 'w', taskId, url: 'http://127.0.0.1:9/' };
      await store.putPushConfig({
        scope,
        taskId,
        id: 'w',
        config,
        protocolVersion: '1.0',
        queue: 'agent',
        cursor: 0,
      });
    }
    // It would try them at once, and give up.
    await server.close();
    for (const delivery of await store.claimDeliveries({
      queue: 'agent',
      holder: 'h',
      ttlMs: 9_000,
      limit: 9,
    }))
      await store.advance(delivery, { dead: 'It is gone' });
    const run = await all(bulkTasks({ store, name: 'agent' }, { action: 'retry-webhooks' }));
    expect(run).toMatchObject({ total: 3, done: 2, skipped: 1 });
    expect(await store.listDead('agent', { limit: 9 })).toEqual([]);
  });
});

describe('a run over a list that changes', () => {
  it.each([
    ['process', 0],
    ['process whose clock is behind', 3_000],
  ])('meets tasks that a %s moves to its front meanwhile, and none that began after it', async (_, byMs) => {
    let page = 0;
    const store: TaskStore = change(memoryStore(), {
      list: (list) => async (at, query) => {
        const found = await list(at, query);
        if (found.tasks.length === 0 || query.limit !== 100 || query.state !== 'TASK_STATE_INPUT_REQUIRED')
          return found;
        page++;
        if (page === 1) {
          // Behind the page that was just read: its question is asked again, which is a change of its status.
          const { tasks } = await list(at, { ...query, limit: 1_000 });
          const last = tasks.at(-1)!.taskId;
          await rpc(other, 'SendMessage', { message: say('ask', { taskId: last }) });
          await send(server, many('ask', 7));
        }
        return found;
      },
    });
    const server = serve(agent, { store, run: 'workers' });
    const other = serve(agent, { store, clock: { now: () => Date.now() - byMs } });
    await send(other, many('ask', 150));
    const { done, total: found } = await all(bulkTasks(server, { action: 'cancel', labels: ['all'] }));
    expect([found, done]).toEqual([150, 150]);
    await ends(server, 'CANCELED', 150);
    expect(await total(server, 'INPUT_REQUIRED')).toBe(7);
  });

  it.each([
    ['cancel', 'ask'],
    ['delete', 'done'],
  ] as const)('meets tasks of a process whose clock is ahead: %s', async (action, text) => {
    const store = memoryStore();
    const ahead = serve(agent, { store, clock: { now: () => Date.now() + 3_600_000 } });
    const server = serve(agent, { store });
    await send(ahead, many(text, 3));
    await send(server, many(text, 2));
    expect(await all(bulkTasks(server, { action }))).toMatchObject({ total: 5, done: 5, isOver: true });
  });
});

describe('a run that does not end', () => {
  it('goes on where it was aborted, where its consumer left, and after the server closed', async () => {
    const store = memoryStore();
    const first = serve(agent, { store });
    await send(first, many('fail', 350));
    const abort = new AbortController();
    let id = '';
    for await (const progress of bulkTasks(first, {
      action: 'fork',
      code: 'NO_FUNDS',
      signal: abort.signal,
    })) {
      ({ id } = progress);
      if (progress.done >= 40) abort.abort();
      if (progress.done >= 40) expect(progress.isOver).toBe(false);
    }
    for await (const { done } of bulkTasks(first, { resume: id })) if (done >= 120) break;
    let last: BulkProgress | undefined;
    for await (last of bulkTasks(first, { resume: id })) if (last.done >= 200) void first.close();
    expect(last!.isOver).toBe(false);
    await expect(all(bulkTasks(first, { resume: id }))).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    const next = serve(agent, { store });
    const end = await all(bulkTasks(next, { resume: id }));
    expect(end.isOver).toBe(true);
    expect(end.done + end.skipped).toBeGreaterThanOrEqual(350);
    await ends(next, 'FAILED', 700);
  });

  it('is carried on by one process at a time', async () => {
    const store = memoryStore();
    const server = serve(agent, { store });
    await send(server, many('ask', 250));
    let id = '';
    for await (const progress of bulkTasks(server, { action: 'cancel', labels: ['all'] })) {
      ({ id } = progress);
      break;
    }
    const [one, two] = await Promise.allSettled([
      all(bulkTasks(server, { resume: id })),
      all(bulkTasks(server, { resume: id })),
    ]);
    const reasons = [one, two].flatMap((ended) =>
      ended.status === 'rejected' ? [ended.reason.message] : [],
    );
    expect(reasons).toEqual(['Another process goes on with this run or ended it, or its caller was erased']);
    await ends(server, 'CANCELED', 250);
  });

  it('says so when the store is away, and goes on after that', async () => {
    let isAway = false;
    const store = change(memoryStore(), {
      erase: (erase) => async (at, id) => {
        if (isAway) throw new StoreError('UNAVAILABLE', 'The store is away');
        return erase!(at, id);
      },
    });
    let now = 0;
    const clock = {
      now: () => Date.now(),
      monotonic: () => now,
      random: () => 0,
      sleep: async () => {
        now += 1_000;
      },
    };
    const server = serve(agent, { store });
    await send(server, many('done', 20));
    const stored = { store, clock, name: 'agent' };
    let id = '';
    const broken = async () => {
      for await (const progress of bulkTasks(stored, { action: 'delete' })) {
        ({ id } = progress);
        isAway = progress.done > 0;
      }
    };
    await expect(broken()).rejects.toThrow('The store is away');
    isAway = false;
    expect(await all(bulkTasks(stored, { resume: id }))).toMatchObject({ done: 20, isOver: true });
  });
});

describe('a run over several callers', () => {
  const asCaller: Pick<AgentServerOptions, 'authenticate'> = {
    authenticate: ({ headers }) => ({ scope: headers.user ?? '' }),
  };
  const texts = { ada: 3, bob: 250, eve: 2, ivy: 1 };
  const begun = async (store: TaskStore) => {
    const server = serve(agent, { store, ...asCaller });
    for (const [user, count] of Object.entries(texts))
      for (let n = 0; n < count; n++) await rpc(server, 'SendMessage', { message: say('ask') }, { user });
    const canceled = async (user: string): Promise<number> =>
      (await rpc(server, 'ListTasks', { status: 'TASK_STATE_CANCELED' }, { user })).totalSize;
    return { server, canceled };
  };

  it('meets the tasks of each, and of no other', async () => {
    const { server, canceled } = await begun(memoryStore());
    const caller = ['ada', 'bob', 'ada', 'eve'];
    const dry = await all(bulkTasks(server, { action: 'cancel', caller, dryRun: true }));
    expect(dry).toMatchObject({ total: 255, done: 255, isOver: true });
    const { tasks, ...last } = await all(bulkTasks(server, { action: 'cancel', caller, by: 'support' }));
    expect(last).toMatchObject({ total: 255, done: 255, skipped: 0, failed: 0, isOver: true });
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(255);
    await eventually(async () =>
      expect(await Promise.all(Object.keys(texts).map(canceled))).toEqual([3, 250, 2, 0]),
    );
    await expect(all(bulkTasks(server, { action: 'cancel', caller: [] }))).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });

  it('goes on in the middle of the tasks of one', async () => {
    const store = memoryStore();
    const { server, canceled } = await begun(store);
    const stop = new AbortController();
    let id = '';
    for await (const progress of bulkTasks(server, {
      action: 'cancel',
      caller: ['ada', 'bob', 'eve'],
      signal: stop.signal,
    })) {
      ({ id } = progress);
      if (progress.done >= 120) stop.abort();
    }
    expect(await canceled('eve')).toBe(0);
    const [run] = await bulkRuns(store, 'agent');
    expect(run).toMatchObject({ id, isOver: false, cursor: { scope: 1 } });
    const rest = await all(bulkTasks(server, { resume: id }));
    expect(rest).toMatchObject({ done: 255, isOver: true });
    await eventually(async () =>
      expect(await Promise.all(Object.keys(texts).map(canceled))).toEqual([3, 250, 2, 0]),
    );
  });
});

it('a rate is kept', async () => {
  const server = serve(agent);
  const store = memoryStore();
  const other = serve(agent, { store });
  await send(other, many('done', 45));
  let now = 0;
  const clock = {
    now: () => Date.now(),
    monotonic: () => now,
    random: () => 0,
    sleep: async (ms: number) => {
      now += Math.max(0, ms);
    },
  };
  const stored = { store, clock, name: 'agent' };
  await all(bulkTasks(stored, { action: 'delete', perSecond: 20 }));
  expect(now).toBeGreaterThanOrEqual(2_000);
  expect(now).toBeLessThan(2_500);
  await expect(all(bulkTasks(server, { resume: 'none' }))).rejects.toThrow('There is no run none');
});
