import { artifact, completed, inputRequired, type Turn } from '@batonjs/server';
import { systemClock } from '@batonjs/server/internals';
import { defaultLimits } from '@batonjs/server/turns';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { forkStored, forkTask, originOf } from '../src/fork-task.ts';
import type { Source } from '../src/operated.ts';

const agent = async function* ({ text, step }: Turn) {
  await step('one', () => 'x'.repeat(100));
  yield artifact('a', 'written');
  const question = { ...inputRequired('What?'), ...(text === 'reserve' && { onlyBy: 'link' as const }) };
  yield text === 'done' ? completed() : question;
};

/** A task whose server is closed, and forks of it. */
async function origin(text = 'done', store: TaskStore = memoryStore()) {
  const server = serve(agent, { store });
  const { task } = await rpc(server, 'SendMessage', { message: say(text) });
  await server.close();
  const source = { store, clock: systemClock, queue: 'agent' };
  const fork = (request: Parameters<typeof forkStored>[1] = {}, more: Partial<Source> = {}, id?: string) =>
    forkStored({ scope, taskId: task.id }, request, { ...source, ...more }, id);
  return { store, source, fork, id: task.id as string };
}

const factsOf = async (store: TaskStore, id: string) =>
  (await store.readFacts(scope, id, 0, 99)).map(({ fact }) => fact);

describe('a fork in the store', () => {
  it('wants a turn where something is left to do, and none where it asks', async () => {
    const { store, fork } = await origin('ask');
    expect(await store.waiting('agent')).toBe(0);
    await fork();
    expect(await store.waiting('agent')).toBe(1);
    const facts = (await store.list(scope, { limit: 9 })).tasks.length;
    expect(facts).toBe(2);
    const asked = await fork({
      from: (await factsOf(store, (await store.list(scope, { limit: 9 })).tasks.at(-1)!.taskId)).length,
    });
    expect(asked).toEqual(expect.any(String));
    expect(await store.waiting('agent')).toBe(1);
  });

  it('is not made of a task that is erased while it is read', async () => {
    const memory = memoryStore();
    const store = change(memory, {
      commit: (commit) => async (given) => {
        if (given.origin !== undefined) await memory.erase!(scope, given.origin);
        return commit(given);
      },
    });
    const { fork } = await origin('done', store);
    await expect(fork()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect((await store.list(scope, { limit: 9 })).tasks).toEqual([]);
  });

  it('of a question for a link wants no turn for a message that is no answer of a person', async () => {
    const { store, fork, id } = await origin('reserve');
    const { length } = await factsOf(store, id);
    const forked = await fork({ from: length, message: 'yes' });
    expect(await store.waiting('agent')).toBe(0);
    expect((await factsOf(store, forked)).at(-1)).toMatchObject({ message: { parts: [{ text: 'yes' }] } });
  });

  it('has its id, the words of who asked, and its labels', async () => {
    const { store, fork, id } = await origin();
    expect(await fork({ labels: ['again'], by: 'ada' }, {}, 'mine')).toBe('mine');
    const [first] = await factsOf(store, 'mine');
    expect(first).toMatchObject({ labels: ['again'], forked: { taskId: id, by: 'ada' } });
    const source = { scope, taskId: 'mine' };
    expect(await originOf(source, store)).toBe(id);
    for (const taskId of [id, 'none']) expect(await originOf({ scope, taskId }, store)).toBeUndefined();
  });

  it('that was made before with its id is that one, and another task is a conflict', async () => {
    const { store, fork, id } = await origin();
    await fork({}, {}, 'mine');
    const { length } = await factsOf(store, 'mine');
    expect(await fork({ from: 'one' }, {}, 'mine')).toBe('mine');
    expect(await factsOf(store, 'mine')).toHaveLength(length);
    await expect(fork({}, {}, id)).rejects.toMatchObject({
      reason: 'MESSAGE_ID_CONFLICT',
      message: `There is another task ${id}`,
    });
  });

  it('is refused where the queue is full, and fails with what else the store says', async () => {
    const { fork, store } = await origin();
    const full = change(store, { commit: () => () => Promise.reject(new StoreError('QUEUE_FULL', 'x')) });
    await expect(fork({}, { store: full })).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
      message: 'Too many tasks wait for their turn',
      retryAfter: 1,
    });
    const error = new StoreError('UNREADABLE', 'x');
    const broken = change(store, { commit: () => () => Promise.reject(error) });
    await expect(fork({}, { store: broken })).rejects.toBe(error);
  });

  it('has to fit the limits where there are some', async () => {
    const { fork } = await origin();
    const tight = { ...defaultLimits, bytesPerTask: 200 };
    await expect(fork({ from: 'one' }, { limits: tight })).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    });
    expect(await fork({ from: 'one' })).toEqual(expect.any(String));
    expect(await fork({ from: 'one' }, { limits: defaultLimits })).toEqual(expect.any(String));
  });

  it('asks the store how many may wait where there are limits, and has its place in a schedule', async () => {
    const { fork, store } = await origin();
    const turns: unknown[] = [];
    const noting = change(store, {
      commit: (commit) => (one) => {
        turns.push(one.turn);
        return commit(one);
      },
    });
    await fork({}, { store: noting });
    await fork({}, { store: noting, limits: { ...defaultLimits, queuedTurns: 7 } });
    await fork({}, { store: noting, schedule: { concurrency: 1 } as never });
    expect(turns.map((turn) => Object(turn))).toEqual([
      { queue: 'agent', want: true },
      { queue: 'agent', want: true, waitingAtMost: 7 },
      expect.objectContaining({ queue: 'agent', want: true }),
    ]);
    expect(Object.keys(Object(turns[2]))).not.toEqual(Object.keys(Object(turns[0])));
  });

  it('is due when the time of a task is over, by the clock that it is made with', async () => {
    const { fork, store } = await origin();
    const clock = { ...systemClock, ...testClock(Date.parse('2026-01-01T00:00:00Z')) };
    const id = await fork({}, { clock, timeouts: { taskMs: 60_000 } });
    const log = await store.load(scope, id);
    expect(log?.head.dueAt).toBe('2026-01-01T00:01:00.000Z');
    const without = await store.load(scope, await fork({}, { clock }));
    expect(without?.head.dueAt).toBeUndefined();
  });

  it.each([
    [{ by: 'x'.repeat(1_025) }, 'by'],
    [{ by: 7 as never }, 'by'],
    [{ labels: [''] }, 'labels'],
    [{ message: [] }, 'message'],
    [{ from: 'none' }, 'from'],
  ])('is refused for %j', async (request, field) => {
    const { fork } = await origin();
    await expect(fork(request)).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining(field === 'from' ? 'no step' : field),
    });
  });

  it('may be asked for by a name of 1,024 characters', async () => {
    const { fork } = await origin();
    expect(await fork({ by: 'x'.repeat(1_024) })).toEqual(expect.any(String));
  });

  it('is none of a task that does not exist, or was answered with a message', async () => {
    const { store, source } = await origin();
    const forkOf = (taskId: string) => forkStored({ scope, taskId }, {}, source);
    await expect(forkOf('none')).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    const server = serve(({ message }) => ({ ...message, role: 'ROLE_AGENT', messageId: 'a' }), {
      store,
      name: 'answers',
    });
    await rpc(server, 'SendMessage', { message: say('hi') });
    const at = JSON.stringify(['answers', '', '']);
    const { tasks } = await store.list(at, { limit: 9, answered: true });
    await expect(forkStored({ scope: at, taskId: tasks[0]!.taskId }, {}, source)).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it('takes over a log that is longer than a page of facts', async () => {
    const store = memoryStore();
    const server = serve(
      async function* ({ step }) {
        for (let n = 0; n < 300; n += 1) await step(`step ${n}`, () => n);
        yield completed();
      },
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    await server.close();
    const id = await forkStored(
      { scope, taskId: task.id },
      { from: 'step 299' },
      { store, clock: systemClock, queue: 'agent' },
    );
    const facts = await store.readFacts(scope, id, 0, 999);
    expect(facts.filter(({ fact }) => fact.type === 'step-completed')).toHaveLength(300);
    const log = await store.load(scope, id);
    expect(log?.snapshot).toBeDefined();
  });
});

describe('a fork that a server makes', () => {
  it('is refused while it closes, and where the tasks of its name are those of another agent', async () => {
    const { store, id } = await origin();
    const server = serve(agent, { store });
    await server.close();
    await expect(forkTask(server, id)).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'The server is closing',
      retryAfter: 1,
    });
  });

  it('is said by its caller, unless another name is given', async () => {
    const store = memoryStore();
    const server = serve(agent, {
      store,
      authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? '' }),
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('done') }, { 'x-caller': 'ada' });
    const at = JSON.stringify(['agent', '', 'ada']);
    const names: unknown[] = [];
    for (const by of [undefined, 'support']) {
      const fork = await forkTask(server, task.id, { caller: 'ada', ...(by && { by }) });
      const [first] = await store.readFacts(at, fork, 0, 1);
      names.push(Object(Object(first?.fact).forked).by);
    }
    expect(names).toEqual(['ada', 'support']);
  });

  it('is told to the hooks of the server as a new task', async () => {
    const seen: unknown[] = [];
    const store = memoryStore();
    const server = serve(agent, {
      store,
      onEvent: (event) => event.type === 'transition' && seen.push([event.taskId, event.from, event.to]),
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('done') });
    seen.length = 0;
    const fork = await forkTask(server, task.id);
    expect(seen[0]).toEqual([fork, undefined, 'TASK_STATE_SUBMITTED']);
  });

  it('counts among the unfinished tasks of its caller', async () => {
    const server = serve(agent, {
      authenticate: () => ({ scope: 'ada' }),
      limits: { callers: { unfinishedTasks: 1 } },
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('ask') });
    await expect(forkTask(server, task.id, { caller: 'ada' })).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    });
  });
});
