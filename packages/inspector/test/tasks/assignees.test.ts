import { connect } from '@batonjs/client';
import { createAgentServer, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { assignees as assigneesOf, briefs as briefsOf } from '../../../operator/src/search/task-rows.ts';
import type { TaskRow } from '../../src/api/task.ts';
import { Inspection } from '../../src/inspection.ts';
import { countsOf } from '../../src/tasks/overview.ts';

const hourMs = 3_600_000;

/** An agent whose questions were given to people, and the rows of its tasks. */
async function asked() {
  const store = memoryStore();
  const read = { logs: 0 };
  const { readFacts } = store;
  store.readFacts = (...given) => {
    if (given[3] !== 1) read.logs += 1;
    return readFacts.apply(store, given);
  };
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Asker', description: 'Asks' },
      publicUrl: 'http://asker.test',
      callbacks: true,
      store,
      logger: () => {},
      async *agent({ callback, text }) {
        yield working();
        if (text === 'boss') await callback({ answeredBy: 'Boss', expiresMs: hourMs });
        yield inputRequired('Well?');
      },
    }),
  );
  const client = await connect('http://asker.test', { fetch: server.fetch });
  const { tasks } = new Inspection([{ server }]).agents[0]!;
  const send = async (text: string, taskId?: string) =>
    (await client.send(text, taskId === undefined ? {} : { task: taskId })).task!.id;
  const names = async () =>
    (await tasks.list({})).tasks.map(({ title, assignees = [] }) => [title, assignees.map(({ by }) => by)]);
  return { server, send, names, tasks, read };
}

it('a row says who has its question: whom the agent chose, and whom operators chose since', async () => {
  const { server, send, names, tasks, read } = await asked();
  await send('plain');
  const id = await send('boss');
  expect(await names()).toEqual([
    ['boss', ['Boss']],
    ['plain', []],
  ]);
  expect(read.logs).toBe(2);
  for (const answeredBy of ['Ana', 'Boss', 'Ana'])
    await server.answerLink(id, { answeredBy, expiresMs: 2 * hourMs, assignedBy: 'me' });
  expect((await names())[0]).toEqual(['boss', ['Boss', 'Ana']]);
  expect(read.logs).toBe(3);
  await names();
  expect(read.logs).toBe(3);
  const [row] = (await tasks.list({})).tasks;
  expect(Date.parse(row!.assignees![0]!.expiresAt)).toBeGreaterThan(Date.now() + hourMs);
  await send('an answer', id);
  expect((await names())[0]).toEqual(['boss', []]);
});

const scope = '["x","",""]';
const asking = (id: string, version = 1): TaskRow => ({
  id,
  contextId: 'c',
  state: 'TASK_STATE_INPUT_REQUIRED',
  version,
});

describe('the people who have questions', () => {
  const opened = (by: string, expiresAt: string) => ({
    fact: { type: 'callback-opened', expiresAt, answers: { by } },
  });

  it('are read just before and after the question, of many tasks in order, and none where a log cannot be read', async () => {
    const asked: unknown[] = [];
    const assignees = assigneesOf({
      async readFacts(...given: unknown[]) {
        asked.push(given);
        if (given[1] === 't1') throw new Error('Away');
        return [
          opened('Ada', 'early'),
          { fact: { type: 'message-received' } },
          { fact: { type: 'callback-opened', expiresAt: 'late' } },
          opened(`Bob of ${given[1]}`, 'late'),
        ];
      },
    } as never);
    const rows = Array.from({ length: 70 }, (_, n) => asking(`t${n}`));
    const working: TaskRow = { ...asking('w'), state: 'TASK_STATE_WORKING' };
    const tasks = rows.map((_, n) => ({ head: { statusVersion: n } }));
    const added = await assignees(scope, [...rows, working], { tasks } as never);
    expect(added[69]).toEqual({ ...rows[69], assignees: [{ by: 'Bob of t69', expiresAt: 'late' }] });
    expect([added[1], added[70], added.length]).toEqual([rows[1], working, 71]);
    expect([asked[0], asked[20], asked[21], asked[69], asked.length]).toEqual([
      [scope, 't0', 0, 100],
      [scope, 't20', 0, 100],
      [scope, 't21', 1, 100],
      [scope, 't69', 49, 100],
      70,
    ]);
    // What could not be read is read again, and a task whose page says no more is read from its beginning.
    await assignees(scope, [rows[1]!, asking('new')], { tasks: [] });
    expect(asked.slice(70)).toEqual([
      [scope, 't1', 0, 100],
      [scope, 'new', 0, 100],
    ]);
    expect(await assignees(scope, [working], { tasks: [] })).toEqual([working]);
    expect(asked).toHaveLength(72);
  });

  it('are remembered of 5,000 tasks', async () => {
    let reads = 0;
    const assignees = assigneesOf({
      async readFacts() {
        reads += 1;
        return [];
      },
    });
    const add = (from: number, to: number) =>
      assignees(
        scope,
        Array.from({ length: to - from }, (_, n) => asking(`t${from + n}`)),
        { tasks: [] },
      );
    await add(0, 5_000);
    await add(0, 1);
    expect(reads).toBe(5_000);
    await add(5_000, 5_001);
    await add(1, 2);
    expect(reads).toBe(5_001);
    await add(0, 1);
    expect(reads).toBe(5_002);
  });
});

describe('what tasks are about', () => {
  const row = (id: string): TaskRow => ({ id, contextId: 'c', state: 'TASK_STATE_WORKING' });
  const message = (text: string) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] });

  it('is read once of each task, as far as its log can be read', async () => {
    const asked: unknown[] = [];
    let isAway = true;
    const briefs = briefsOf({
      async readFacts(...given: unknown[]) {
        asked.push(given);
        const [, id] = given;
        if (id === 'away' && isAway) throw new Error('Away');
        if (id === 'empty') return [];
        if (id === 'other') return [{ fact: { type: 'task-created', at: 'then' } }];
        return [{ fact: { type: 'message-received', at: 'then', message: message(`about ${id}`) } }];
      },
    } as never);
    const rows = ['a', 'away', 'empty', 'other'].map(row);
    expect(await briefs(scope, rows)).toStrictEqual([
      { ...rows[0], title: 'about a', startedAt: 'then' },
      rows[1],
      rows[2],
      { ...rows[3], startedAt: 'then' },
    ]);
    expect(asked[0]).toEqual([scope, 'a', 0, 1]);
    isAway = false;
    const [, away] = await briefs(scope, rows);
    expect(away).toMatchObject({ title: 'about away' });
    expect(asked.slice(4).map((given) => (given as string[])[1])).toEqual(['away', 'empty']);
    // A label says better what a task is about, and the caller of another scope may have the same id.
    const named = { ...rows[0]!, title: 'Mine' };
    expect(await briefs(scope, [named])).toStrictEqual([{ ...named, startedAt: 'then' }]);
    await briefs('other', [rows[0]!]);
    expect(asked).toHaveLength(7);
  });

  it('is remembered of 20,000 tasks', async () => {
    let reads = 0;
    const briefs = briefsOf({
      async readFacts(_: unknown, id: string) {
        reads += 1;
        return [{ fact: { type: 'x', at: id } }];
      },
    } as never);
    const add = (from: number, to: number) =>
      briefs(
        scope,
        Array.from({ length: to - from }, (_, n) => row(`t${from + n}`)),
      );
    const first = await add(0, 20_000);
    expect([first[0]?.startedAt, first[33]?.startedAt, first[19_999]?.startedAt]).toEqual([
      't0',
      't33',
      't19999',
    ]);
    expect((await add(0, 40))[33]?.startedAt).toBe('t33');
    expect(reads).toBe(20_000);
    await add(20_000, 20_001);
    await add(1, 2);
    expect(reads).toBe(20_001);
    await add(0, 1);
    expect(reads).toBe(20_002);
  });
});

const hour = (ago: number) => new Date(Date.now() - ago * 3_600_000).toISOString().slice(0, 13);
const run = { ended: 20, failed: 1, tokens: 5, costs: { EUR: 2 } };

it.each([
  ['nothing', {}, {}],
  ['one that was quick', { 0: { ...run, ended: 1, took: { 4: 1 } } }, { ended: 1, failed: 1, p95Ms: 4 }],
  [
    'one of twenty that was slow',
    { 0: { ...run, took: { 6: 19, 20: 1 } } },
    { ended: 20, failed: 1, p95Ms: 8 },
  ],
  ['two of twenty', { 23: { ...run, took: { 6: 18, 20: 2 } } }, { ended: 20, failed: 1, p95Ms: 1_024 }],
  [
    'several hours',
    { 2: { ...run, took: { 6: 20 } }, 0: { ...run, took: { 10: 20 } } },
    { ended: 40, failed: 2, p95Ms: 32, tokens: 10, costs: { EUR: 4 } },
  ],
])('the first page has what ended in a day: %s', async (_, hours, wanted) => {
  const asked: string[] = [];
  const found = await countsOf({
    scopes: [{ scope: 'a' }, { scope: 'b' }],
    refresh: async () => {},
    queue: 'q',
    tasks: {
      measure: async () => ({ questions: { TASK_STATE_AUTH_REQUIRED: 9 }, waiting: 990, postponed: 20 }),
      getRecord: async () => ({ value: ['1.4'] }),
      async listRecords({ prefix }: { prefix: string }) {
        if (prefix.startsWith('processes')) return [{ name: 'processes/q/1', value: { name: 'worker 1' } }];
        return Object.entries(hours).map(([ago, value]) => ({
          name: `${prefix}${hour(Number(ago))}`,
          value,
        }));
      },
      async list(of: string, { state, ...query }: { state: string }) {
        expect(query).toEqual({ limit: 1, totalAtMost: 1_000 });
        asked.push(`${of} ${state.slice('TASK_STATE_'.length)}`);
        return { total: state === 'TASK_STATE_WORKING' ? 700 : 2 };
      },
    },
  } as never);
  const perHour = Array.from({ length: 24 }, (_, n) => Object(hours)[23 - n]?.ended ?? 0);
  const none = { ended: 0, failed: 0, asking: 8, hidden: 1, working: 1_000, waiting: 1_000 };
  const used = 'p95Ms' in wanted ? { tokens: 5, costs: { EUR: 2 } } : {};
  const processes = { processes: ['worker 1'], versions: ['1.4'] };
  expect(found).toEqual({ ...none, ...processes, ...used, perHour, ...wanted });
  expect(asked).toHaveLength(6);
});
