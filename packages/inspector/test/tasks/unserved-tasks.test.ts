import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { unservedTasks } from '../../src/agents/inspected.ts';
import type { TaskListUpdate } from '../../src/api/task.ts';
import { Inspection } from '../../src/inspection.ts';
import { taskFeed } from '../../src/tasks/task-feed.ts';

/** A store that remembers two versions, whose tasks the test names. */
function pinning() {
  const store = memoryStore();
  const tasks: Record<string, string[]> = { one: [], two: [] };
  const asked: string[] = [];
  const changed = Object.assign(Object.create(store) as typeof store, {
    getRecord: async (name: string) => ({ name, revision: 1, value: Object.keys(tasks) }),
    async pinned(queue: string, version: string) {
      asked.push(`${queue} ${version}`);
      return tasks[version]!.map((taskId) => ({ scope: 's', taskId }));
    },
  });
  return { store: changed, tasks, asked };
}

it('tasks are unserved that wait for a version at two looks, which are soon after another at first', async () => {
  const { store, tasks, asked } = pinning();
  let now = 0;
  const unserved = unservedTasks(store, 'q', () => now);
  tasks.one = ['short', 'long'];
  expect(await unserved.read()).toEqual([]);
  now += 900;
  expect(await unserved.read()).toEqual([]);
  expect(asked).toEqual(['q one', 'q two']);
  tasks.one = ['long'];
  now += 200;
  const found = [{ scope: 's', taskId: 'long', version: 'one' }];
  expect(await unserved.read()).toEqual(found);
  expect(await unserved.versionFor('s', 'long')).toBe('one');
  expect(await unserved.versionFor('other', 'long')).toBeUndefined();
  now += 4_000;
  await unserved.read();
  expect(asked).toHaveLength(4);
  // One that another version takes up waits for that one again.
  tasks.one = [];
  tasks.two = ['long'];
  now += 1_100;
  expect(await unserved.read()).toEqual([]);
  now += 1_100;
  expect(await unserved.read()).toEqual([{ ...found[0], version: 'two' }]);
});

it('a look that fails is tried again by the next reader', async () => {
  const { store, tasks } = pinning();
  tasks.one = ['t'];
  const { pinned } = store;
  store.pinned = () => Promise.reject(new Error('Away'));
  const unserved = unservedTasks(store, 'q', () => 0);
  await expect(unserved.read()).rejects.toThrow('Away');
  store.pinned = pinned!;
  expect(await unserved.read()).toEqual([]);
});

it('a feed tells of them once there are some, and when there are none any more', async () => {
  const counts = [0, 2, 2, 0];
  const list = async () => ({ tasks: [], source: 'live' as const });
  const tasks = {
    everyMs: 1,
    list,
    counts: async () => ({}),
    async unserved() {
      const count = counts.shift() ?? 0;
      return { queue: 'q', versions: count > 0 ? [{ version: '1', tasks: count }] : [] };
    },
  };
  const reading = new AbortController();
  const told: TaskListUpdate[] = [];
  for await (const update of taskFeed({ id: 'a', tasks }, {}, reading.signal)) {
    if (update.type === 'unserved') told.push(update);
    if (told.length === 2) reading.abort();
  }
  expect(told).toEqual([
    { agent: 'a', type: 'unserved', unserved: { queue: 'q', versions: [{ version: '1', tasks: 2 }] } },
    { agent: 'a', type: 'unserved', unserved: { queue: 'q', versions: [] } },
  ]);
});

it('a store that pins nothing has none, and is asked for no versions', async () => {
  const { pinned: _, ...store } = memoryStore();
  const load = () => expect.unreachable('It is asked');
  const exhibit = new Inspection([{ name: 'x', store: { ...store, load } as never }]).agent('x');
  expect(await exhibit.tasks.unserved!()).toEqual({ queue: 'x', versions: [] });
  expect(await exhibit.tasks.list({ unserved: true })).toEqual({ tasks: [], total: 0, source: 'live' });
});

it('a list has those of its scope, newest first, as far as they are still there, and each row says what it waits for', async () => {
  const { store, tasks } = pinning();
  const { pinned } = store;
  const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`;
  const head = (minute: number) => ({
    contextId: 'c',
    state: 'TASK_STATE_WORKING',
    statusAt: at(minute),
    version: 2,
    statusVersion: 2,
    turn: 1,
    attempt: 1,
  });
  const message = { role: 'ROLE_AGENT', messageId: 'm', parts: [{ text: 'At it' }] };
  const status = { type: 'status-changed', status: { state: 'TASK_STATE_WORKING', message } };
  const facts = [
    { version: 1, fact: { type: 'message-received', at: at(0), message: { parts: [{ text: 'go' }] } } },
    { version: 2, fact: status },
  ];
  const logs: Record<string, unknown> = {
    old: { head: head(1), facts },
    new: { head: head(3), facts: facts.slice(0, 1) },
    mid: { head: head(2), facts },
  };
  const changed = Object.assign(store, {
    load: async (_scope: string, id: string) => logs[id],
    pinned: async (...given: Parameters<NonNullable<typeof pinned>>) =>
      (await pinned!(...given)).map(({ taskId }) => ({
        scope: taskId === 'other' ? 's' : '["x","",""]',
        taskId,
      })),
    list: async () => ({ tasks: ['mid', 'plain'].map((taskId) => ({ taskId, head: head(2) })), total: 2 }),
    readFacts: async () => facts.slice(0, 1),
  });
  tasks.one = ['old', 'gone', 'other'];
  tasks.two = ['new', 'mid'];
  const source = new Inspection([{ name: 'x', store: changed as never }]).agent('x').tasks;
  const list = (filter: object) => source.list({ unserved: true, ...filter });
  // The first look finds none: each may be taken up in a moment.
  expect(await list({})).toEqual({ tasks: [], total: 0, source: 'live' });
  await expect.poll(async () => (await list({})).total).toBe(3);
  const { tasks: rows, total } = await list({});
  expect([total, rows.map(({ id, waitsFor, text, title }) => [id, waitsFor, text, title])]).toEqual([
    3,
    [
      ['new', 'two', undefined, 'go'],
      ['mid', 'two', 'At it', 'go'],
      ['old', 'one', 'At it', 'go'],
    ],
  ]);
  expect((await list({ text: 'old' })).tasks.map(({ id }) => id)).toEqual(['old']);
  expect((await list({ state: 'TASK_STATE_FAILED' })).tasks).toEqual([]);
  expect((await source.list({})).tasks.map(({ id, waitsFor }) => [id, waitsFor])).toEqual([
    ['mid', 'two'],
    ['plain', undefined],
  ]);
  expect(await source.unserved!()).toEqual({
    queue: 'x',
    versions: [
      { version: 'one', tasks: 2 },
      { version: 'two', tasks: 2 },
    ],
  });
});

it('a list does without them where the store cannot say what waits', async () => {
  const { store } = pinning();
  store.pinned = () => Promise.reject(new Error('Away'));
  const { tasks } = new Inspection([{ name: 'x', store }]).agent('x');
  expect(await tasks.list({})).toEqual({ tasks: [], total: 0, source: 'live' });
});
