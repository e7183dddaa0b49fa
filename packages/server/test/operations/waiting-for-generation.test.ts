import { GENERATION } from '@batonjs/protocol/headers';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type Agent, completed, inputRequired } from '../../src/index.ts';

const active = { 'a2a-extensions': GENERATION };
const serve = serveWith({ compatibility: ['1.1'], timeouts: { generationMs: 110_000 } });

/** Asks once. */
const ask: Agent = async function* ({ messages }) {
  yield messages.length === 1 ? inputRequired('Well?') : completed();
};

const poll = (id: string, generation: string, signal: AbortSignal) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...active },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'GetTask',
      params: { id, currentGeneration: generation },
    }),
    signal,
  });

/** A store that does something before a server is told about the commits of a task. */
function beforeSubscribing(store: TaskStore, act: () => Promise<unknown>): TaskStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]) => {
        const isOfTask = name === 'subscribe' && (given[0] as { taskId?: string }).taskId !== undefined;
        if (isOfTask) await act();
        return Reflect.apply(member, target, given);
      };
    },
  });
}

it('a client that leaves a long poll leaves nothing behind', async () => {
  const server = serve(ask);
  const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
  await eventually(() => expect(server.load).toEqual({ turns: 0, tasks: 0 }));
  const client = new AbortController();
  const answered = server.fetch(poll(task.id, task.generation, client.signal));
  await eventually(() => expect(server.load.tasks).toBe(1));
  client.abort();
  await answered.catch(() => undefined);
  await eventually(() => expect(server.load.tasks).toBe(0));
});

it('a long poll counts as a stream of its task while it waits', async () => {
  const server = serve(ask, { limits: { followersPerTask: 1 } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
  const client = new AbortController();
  const polls = [1, 2].map(async () => {
    const answer = await server.fetch(poll(task.id, task.generation, client.signal));
    return answer.json();
  });
  const { error } = await Promise.race(polls);
  expect(error).toMatchObject({ message: 'Too many streams are open on this task' });
  client.abort();
  await Promise.allSettled(polls);
  await eventually(() => expect(server.load.tasks).toBe(0));
  // The one that left gave its place back.
  const next = server.fetch(poll(task.id, task.generation, new AbortController().signal));
  await eventually(() => expect(server.load.tasks).toBe(1));
  await rpc(server, 'SendMessage', { message: say('so', { taskId: task.id }) }, active);
  expect(await (await next).json()).toMatchObject({ result: { id: task.id } });
});

it('a task that no longer waits, and one that does not exist, are answered at once, and are not kept', async () => {
  const server = serve(ask);
  const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
  const { id } = task;
  await rpc(server, 'SendMessage', { message: say('so', { taskId: id }) }, active);
  const done = await rpc(server, 'GetTask', { id, currentGeneration: task.generation }, active);
  const again = await rpc(server, 'GetTask', { id, currentGeneration: done.generation }, active);
  expect(again.status.state).toBe('TASK_STATE_COMPLETED');
  const missing = rpc(server, 'GetTask', { id: 'none', currentGeneration: 1 }, active);
  await expect(missing).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  await eventually(() => expect(server.load.tasks).toBe(0));
});

it('a change before the store tells of changes is not missed', async () => {
  const store = memoryStore();
  const here = serve(ask, { store });
  const { task } = await rpc(here, 'SendMessage', { message: say('go') }, active);
  let isChanged = false;
  const change = async () => {
    if (isChanged) return;
    isChanged = true;
    await rpc(here, 'SendMessage', { message: say('so', { taskId: task.id }) }, active);
  };
  const there = serve(ask, { store: beforeSubscribing(store, change), run: 'workers' });
  const params = { id: task.id, currentGeneration: task.generation };
  const { status } = await rpc(there, 'GetTask', params, active);
  expect([isChanged, status.state]).toEqual([true, 'TASK_STATE_COMPLETED']);
});
