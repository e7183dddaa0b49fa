import { type AgentClient, connect } from '@batonjs/client';
import type { Message, Part, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import {
  completed,
  createAgentServer,
  inputRequired,
  labels,
  type Turn,
  type Updates,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { shortText, titleOf, toRow } from '../../../operator/src/search/task-rows.ts';
import type { AgentLink } from '../../src/agents/inspected.ts';
import type { TaskListUpdate, TaskRow } from '../../src/api/task.ts';
import { states } from '../../src/api/task.ts';
import { RequestError } from '../../src/http/reply.ts';
import { Inspection } from '../../src/inspection.ts';
import { agentTasks, rowOf } from '../../src/tasks/agent-tasks.ts';
import { taskFeed, taskFeeds } from '../../src/tasks/task-feed.ts';

const old = '2020-01-01T00:00:00.000Z';
const task = (id: string, state = 'COMPLETED', more: object = {}): Task =>
  ({ id, contextId: `c-${id}`, status: { state: `TASK_STATE_${state}`, timestamp: old, ...more } }) as Task;

/** The tasks of an agent that gives these pages, and what it was asked for. */
function listing(pages: readonly object[], seen: readonly TaskRow[] = []) {
  const asked: Record<string, unknown>[] = [];
  const client = {
    async listTasks(params: Record<string, unknown>) {
      asked.push(params);
      const page = pages[asked.length - 1] ?? {};
      if (page instanceof Error) throw page;
      return page;
    },
  } as unknown as AgentClient;
  const link = { client: async () => client } as unknown as AgentLink;
  return { source: agentTasks(link, () => seen), asked };
}

describe('the tasks that an agent lists', () => {
  it('are rows, with the total and the next page', async () => {
    const said = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x'.repeat(201) }] };
    const { source, asked } = listing([
      {
        tasks: [task('a', 'WORKING', { message: said }), { id: 'b', status: { state: 'TASK_STATE_FAILED' } }],
        totalSize: 7,
        nextPageToken: 'n',
      },
      { tasks: undefined },
    ]);
    expect(await source.list({})).toEqual({
      tasks: [
        {
          id: 'a',
          contextId: 'c-a',
          state: 'TASK_STATE_WORKING',
          statusAt: old,
          text: `${'x'.repeat(199)}…`,
        },
        { id: 'b', contextId: '', state: 'TASK_STATE_FAILED' },
      ],
      total: 7,
      next: 'n',
      source: 'polled',
    });
    expect(await source.list({}, 'n')).toEqual({ tasks: [], source: 'polled' });
    expect(asked).toEqual([
      { pageSize: 100, historyLength: 4 },
      { pageSize: 100, historyLength: 4, pageToken: 'n' },
    ]);
    expect(source.everyMs).toBe(2_000);
  });

  it('are those that a filter names', async () => {
    const { source, asked } = listing([{ tasks: [] }]);
    const before = Date.now();
    await source.list({ state: 'TASK_STATE_WORKING', contextId: 'c', maxAgeMs: 1_000, scope: 3 });
    const { statusTimestampAfter: since, ...rest } = asked[0]!;
    expect(rest).toEqual({
      pageSize: 100,
      historyLength: 4,
      status: 'TASK_STATE_WORKING',
      contextId: 'c',
    });
    expect(Date.parse(since as string)).toBeGreaterThanOrEqual(before - 1_000);
    expect(Date.parse(since as string)).toBeLessThanOrEqual(Date.now() - 1_000);
  });

  it('are searched page by page for a part of an id, without a total', async () => {
    const page = (n: number, id: string) => ({
      tasks: Array.from({ length: n }, (_, at) => task(`${id}${at}`)),
      totalSize: 9,
      nextPageToken: 'n',
    });
    const few = listing([page(2, 'no'), page(1, 'yes'), { ...page(1, 'no'), nextPageToken: '' }]);
    expect(await few.source.list({ text: 'yes' })).toEqual({
      tasks: [rowOf(task('yes0'))],
      searched: { tasks: 4, of: 9 },
      source: 'polled',
    });
    expect(few.asked.map(({ pageToken }) => pageToken)).toEqual([undefined, 'n', 'n']);
    const full = listing([page(100, 'yes'), page(1, 'yes')]);
    expect(await full.source.list({ text: 'yes' })).toMatchObject({ next: 'n' });
    expect(full.asked).toHaveLength(1);
    const none = listing(Array.from({ length: 30 }, () => page(100, 'no')));
    expect(await none.source.list({ text: 'yes' })).toEqual({
      tasks: [],
      searched: { tasks: 2_000, of: 9 },
      next: 'n',
      source: 'polled',
    });
    expect(none.asked).toHaveLength(20);
  });

  it('are counted in each state', async () => {
    const { source, asked } = listing(states.map((_, n) => ({ totalSize: n })));
    const counts = await source.counts();
    expect(counts).toEqual(Object.fromEntries(states.map((state, n) => [state, n])));
    expect(asked).toEqual(states.map((status) => ({ status, pageSize: 1 })));
  });

  it.each(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION', 'METHOD_NOT_ALLOWED'] as const)(
    'are those that were seen, of an agent that answers %s',
    async (reason) => {
      const rows: TaskRow[] = [
        { id: 'ab', contextId: 'c', state: 'TASK_STATE_WORKING', statusAt: new Date().toISOString() },
        { id: 'b', contextId: 'd', state: 'TASK_STATE_WORKING', statusAt: old },
        { id: 'a', contextId: 'c', state: 'TASK_STATE_FAILED' },
      ];
      const { source, asked } = listing([new A2AError(reason)], rows);
      const ids = async (filter: object) => (await source.list(filter)).tasks.map(({ id }) => id);
      expect(await source.list({})).toEqual({ tasks: rows, source: 'seen' });
      expect(await ids({ state: 'TASK_STATE_WORKING' })).toEqual(['ab', 'b']);
      expect(await ids({ contextId: 'c' })).toEqual(['ab', 'a']);
      expect(await ids({ text: 'a' })).toEqual(['ab', 'a']);
      expect(await ids({ maxAgeMs: 60_000 })).toEqual(['ab']);
      expect(await ids({ state: 'TASK_STATE_WORKING', contextId: 'd', text: 'b' })).toEqual(['b']);
      expect(await source.counts()).toEqual({ TASK_STATE_WORKING: 2, TASK_STATE_FAILED: 1 });
      // It is not asked again.
      expect(asked).toHaveLength(1);
    },
  );

  it('of a label are none where the agent cannot be asked for it, and all are there afterwards', async () => {
    const { source } = listing([new A2AError('UNSUPPORTED_OPERATION'), { tasks: [task('a')] }]);
    expect(await source.list({ labels: ['vip'] })).toEqual({ tasks: [], source: 'polled' });
    expect(await source.list({})).toMatchObject({ tasks: [{ id: 'a' }], source: 'polled' });
    const { source: broken } = listing([new Error('Broken')]);
    await expect(broken.list({ labels: ['vip'] })).rejects.toThrow('Broken');
  });

  it.each([{ skill: 's' }, { code: 'k' }, { labels: ['vip'], text: 't' }])(
    'of %j are none where the agent cannot be asked for it, and it can be asked for others',
    async (filter) => {
      const { source, asked } = listing([
        new A2AError('INVALID_PARAMS'),
        new A2AError('METHOD_NOT_FOUND'),
        { tasks: [task('a')] },
      ]);
      const none = { tasks: [], source: 'polled' };
      expect([await source.list(filter), await source.list(filter)]).toEqual([none, none]);
      expect(await source.list({})).toMatchObject({ tasks: [{ id: 'a' }] });
      expect(asked).toHaveLength(3);
    },
  );

  it.each([new A2AError('UNAVAILABLE'), new Error('Broken')])(
    'are not shown where the agent fails with %s',
    async (error) => {
      const { source, asked } = listing([error, { tasks: [] }]);
      await expect(source.list({})).rejects.toBe(error);
      expect(await source.list({})).toMatchObject({ source: 'polled' });
      expect(asked).toHaveLength(2);
    },
  );
});

/** The tasks of an agent in its store. */
async function stored(count: number) {
  const store = memoryStore();
  const agent = async function* ({ text }: Turn): Updates {
    if (text.startsWith('Taxi')) yield labels(['title:Journey of Ada', 'vip']);
    if (text === 'ask') yield inputRequired('Which?');
    else yield completed('Done');
  };
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Show', description: 'Shows' },
      name: 'show',
      agent,
      store,
      logger: () => {},
    }),
  );
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const tasks: Task[] = [];
  for (let n = 0; n < count; n += 1) tasks.push((await client.send(n === 0 ? 'ask' : 'go')).task!);
  return { tasks, client, exhibit: new Inspection([{ server }]).agent('show') };
}

describe('the tasks of a store', () => {
  it('are rows, newest first, with what only a store knows', async () => {
    const { tasks, exhibit } = await stored(2);
    const { source } = await exhibit.tasks.list({});
    expect([source, exhibit.tasks.everyMs]).toEqual(['live', 500]);
    const list = await exhibit.tasks.list({});
    expect(list).toEqual({
      total: 2,
      source: 'live',
      tasks: [tasks[1]!, tasks[0]!].map(({ id, contextId, status }, n) => ({
        id,
        contextId,
        state: status.state,
        statusAt: status.timestamp,
        text: n === 0 ? 'Done' : 'Which?',
        title: n === 0 ? 'go' : 'ask',
        startedAt: expect.stringMatching(/^20/),
        version: expect.any(Number),
        turn: 1,
        attempt: 1,
      })),
    });
  });

  it('are found by what they are about, what their status says, and their labels', async () => {
    const { client, tasks, exhibit } = await stored(2);
    const { task } = await client.send('Taxi to the airport');
    const list = await exhibit.tasks.list({ text: 'JOURNEY' });
    expect(list.tasks).toMatchObject([{ id: task!.id, title: 'Journey of Ada', labels: ['vip'] }]);
    const ids = async (text: string) => (await exhibit.tasks.list({ text })).tasks.map(({ id }) => id);
    expect(await ids('vip')).toEqual([task!.id]);
    expect(await ids('which')).toEqual([tasks[0]!.id]);
    expect(await ids('ask')).toEqual([tasks[0]!.id]);
  });

  it('are those that a filter names', async () => {
    const { tasks, exhibit } = await stored(3);
    const ids = async (filter: object) => (await exhibit.tasks.list(filter)).tasks.map(({ id }) => id);
    expect(await ids({ state: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([tasks[0]!.id]);
    expect(await ids({ contextId: tasks[1]!.contextId })).toEqual([tasks[1]!.id]);
    expect(await ids({ text: tasks[2]!.id.slice(3) })).toEqual([tasks[2]!.id]);
    expect(await ids({ maxAgeMs: 3_600_000 })).toHaveLength(3);
    expect(await exhibit.tasks.list({ text: 'none' })).toEqual({
      tasks: [],
      searched: { tasks: 3, of: 3 },
      source: 'live',
    });
    expect(await exhibit.tasks.counts()).toMatchObject({
      TASK_STATE_INPUT_REQUIRED: 1,
      TASK_STATE_COMPLETED: 2,
      TASK_STATE_FAILED: 0,
    });
    await expect(exhibit.tasks.list({ scope: 1 })).rejects.toThrow(
      new RequestError(404, 'There is no scope 1'),
    );
  });

  it('come in pages of 250, the next of which begins where the last ended', async () => {
    const { exhibit } = await stored(1);
    const listed = (n: number) => ({
      taskId: `t${n}`,
      head: { statusAt: old, contextId: 'c', version: 1, turn: 0, attempt: 0 },
    });
    const asked: Record<string, unknown>[] = [];
    const pages: { tasks: object[]; isCut?: boolean }[] = [];
    const tasks = {
      async list(_: string, query: Record<string, unknown>) {
        asked.push(query);
        return { total: 999, ...(pages.shift() ?? { tasks: [] }) };
      },
    };
    const source = new Inspection([{ name: 'x', store: tasks as never }]).agent('x').tasks;
    const many = Array.from({ length: 250 }, (_, n) => listed(n));
    pages.push({ tasks: many });
    const next = `${old},t249`;
    expect(await source.list({})).toMatchObject({ total: 999, next, tasks: { length: 250 } });
    pages.push({ tasks: [listed(1)], isCut: true }, { tasks: [listed(2)] });
    const cut = await source.list({}, next);
    expect(cut.next).toBe(`${old},t1`);
    expect((await source.list({})).next).toBeUndefined();
    expect(asked).toEqual([
      { limit: 250 },
      { limit: 250, after: { statusAt: old, taskId: 't249' } },
      { limit: 250 },
    ]);
    // A search goes on until it has a page, or has seen 2,000.
    asked.length = 0;
    for (let n = 0; n < 9; n += 1) pages.push({ tasks: many });
    expect(await source.list({ text: 'none' })).toEqual({
      tasks: [],
      searched: { tasks: 2_000, of: 999 },
      next,
      source: 'live',
    });
    expect(asked).toHaveLength(8);
    asked.length = 0;
    pages.splice(0, pages.length, { tasks: many }, { tasks: many });
    expect((await source.list({ text: 't' })).tasks).toHaveLength(250);
    expect(asked).toHaveLength(1);
    expect(toRow(listed(1) as never)).toMatchObject({ state: 'TASK_STATE_UNSPECIFIED' });
    const refusal = { status: 400, message: 'This is no place in a list of tasks' };
    await expect(exhibit.tasks.list({}, 'x')).rejects.toMatchObject(refusal);
  });

  it('are counted one state at a time, without reading them', async () => {
    const asked: unknown[] = [];
    const tasks = {
      async list(_: string, query: object) {
        asked.push(query);
        return { total: asked.length, tasks: [] };
      },
    };
    const source = new Inspection([{ name: 'x', store: tasks as never }]).agent('x').tasks;
    expect(await source.counts(0)).toEqual(Object.fromEntries(states.map((state, n) => [state, n + 1])));
    expect(asked).toEqual(states.map((state) => ({ state, limit: 1 })));
  });
});

describe('the feed of a list', () => {
  it('has the list and the counts, and each again when it changes, and says what fails', async () => {
    const reading = new AbortController();
    const lists = [[], [], ['a'], ['b'], new Error('x'), ['b']];
    const counts = [{ n: 0 }, { n: 1 }, { n: 1 }, { n: 1 }];
    const scopes: unknown[] = [];
    const source = {
      everyMs: 1,
      async list() {
        const next = lists.shift();
        if (lists.length === 0) reading.abort();
        if (next instanceof Error) throw next;
        return { tasks: next, source: 'live' } as never;
      },
      async counts(scope?: number) {
        scopes.push(scope);
        return counts.shift() as never;
      },
    };
    const updates: TaskListUpdate[] = [];
    for await (const update of taskFeed({ id: 'a', tasks: source }, { scope: 2 }, reading.signal))
      updates.push(update);
    const list = (...tasks: string[]) => ({ agent: 'a', type: 'list', list: { tasks, source: 'live' } });
    expect(updates).toEqual([
      list(),
      { agent: 'a', type: 'counts', counts: { n: 0 } },
      list('a'),
      { agent: 'a', type: 'counts', counts: { n: 1 } },
      list('b'),
      { agent: 'a', type: 'problem', message: 'The inspector failed' },
      list('b'),
    ]);
    expect(new Set(scopes)).toEqual(new Set([2]));
  });
});

describe('a title', () => {
  const first = (...parts: Part[]) => ({ messageId: 'm', role: 'ROLE_USER' as const, parts });
  it('is one line of the text, else the name of a file, an address or data', () => {
    expect(titleOf(undefined)).toBeUndefined();
    expect(titleOf(first({ text: ' \n ' }))).toBeUndefined();
    expect(titleOf(first({ data: { a: 1 } }, { text: ' ' }, { text: ' Two\n lines ' }))).toBe('Two lines');
    expect(titleOf(first({ raw: '', filename: 'a.csv' }))).toBe('a.csv');
    expect(titleOf(first({ url: 'https://a.example/b' }))).toBe('https://a.example/b');
    expect(titleOf(first({ data: { a: 1 } }))).toBe('{"a":1}');
    expect(titleOf(first({ text: 'x'.repeat(121) }))).toBe(`${'x'.repeat(119)}…`);
  });

  it('of an agent without a store is its first message, as far as it was shown', () => {
    const told = (role: 'ROLE_USER' | 'ROLE_AGENT', text: string) => ({
      messageId: text,
      role,
      parts: [{ text }],
    });
    const of = (history: Message[], most?: number) => rowOf({ ...task('a'), history }, most).title;
    expect(of([told('ROLE_USER', 'one')], 2)).toBe('one');
    expect(of([told('ROLE_USER', 'two'), told('ROLE_USER', 'three')], 2)).toBeUndefined();
    expect(of([told('ROLE_USER', 'two'), told('ROLE_USER', 'three')])).toBe('two');
    expect(of([told('ROLE_AGENT', 'one')], 2)).toBeUndefined();
  });
});

describe('the feed of several agents', () => {
  it('has what comes from each, until all have ended', async () => {
    const reading = new AbortController();
    const source = (id: string, times: number) => {
      let count = 0;
      return {
        everyMs: 1,
        async list() {
          count += 1;
          if (count === times) reading.abort();
          return { tasks: [`${id}${count}`], source: 'live' } as never;
        },
        counts: async () => ({}),
      };
    };
    const agents = [
      { id: 'a', tasks: source('a', 3) },
      { id: 'b', tasks: source('b', 1_000) },
    ];
    const seen = new Set<string>();
    for await (const update of taskFeeds(
      agents.map((agent) => ({ agent, filter: {} })),
      reading.signal,
    ))
      seen.add(`${update.agent} ${update.type}`);
    expect([...seen].sort()).toEqual(['a counts', 'a list', 'b counts', 'b list']);
  });
});

it('a text of more than 200 characters is cut', () => {
  expect([shortText('x'.repeat(200)), shortText('x'.repeat(201))]).toEqual([
    'x'.repeat(200),
    `${'x'.repeat(199)}…`,
  ]);
});
