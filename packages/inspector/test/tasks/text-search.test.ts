import { connect } from '@batonjs/client';
import { callerScope } from '@batonjs/operator';
import { listTasks, type RowList, type TaskRow, taskRows } from '@batonjs/operator/search';
import { completed, createAgentServer, type Turn } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { Inspection } from '../../src/inspection.ts';

const old = '2020-01-01T00:00:00.000Z';
const listed = (taskId: string, statusAt = old) => ({
  taskId,
  head: { statusAt, contextId: 'c', version: 1, turn: 0, attempt: 0 },
});

it('a store that searches texts finds tasks by all of their first message', async () => {
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Shop', description: 'Sells' },
      name: 'shop',
      store: sqliteStore(':memory:', { textSearch: true }),
      logger: () => {},
      agent: async function* ({ text }: Turn) {
        yield completed(`You said ${text.length} letters`);
      },
    }),
  );
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { task: long } = await client.send(`${'Please. '.repeat(40)} Refund invoice 42 for Zoë`);
  const { task: short } = await client.send('invoice');
  const { tasks } = new Inspection([{ server }]).agent('shop');
  const ids = async (text: string) => (await tasks.list({ text })).tasks.map(({ id }) => id);
  expect(await ids('zoe refund')).toEqual([long!.id]);
  expect(await ids('invoice')).toEqual([short!.id, long!.id]);
  expect((await tasks.list({ text: 'invoice', took: '<1h' })).tasks).toHaveLength(2);
  expect((await tasks.list({ text: 'invoice', took: '>1h' })).tasks).toEqual([]);
  // What is no word of a first message is looked for in ids and answers.
  expect(await ids(`${`${'Please. '.repeat(40)} Refund invoice 42 for Zoë`.length} letters`)).toEqual([
    long!.id,
  ]);
  expect(await ids(short!.id.slice(3))).toEqual([short!.id]);
  expect(await ids('"AND')).toEqual([]);
  // Both are older than the newest 250, where answers are looked at.
  await Promise.all(Array.from({ length: 250 }, () => client.send('other')));
  expect(await ids(long!.id)).toEqual([long!.id]);
  expect(await ids(`${long!.id} ${short!.id}`)).toEqual([]);
  expect(await ids(`${long!.id.slice(0, -1)}`)).toEqual([]);
  expect((await tasks.list({ text: long!.id, state: 'TASK_STATE_FAILED' })).tasks).toEqual([]);
  expect(await tasks.list({ text: 'zoe' })).toMatchObject({ searchesTexts: true, source: 'live' });
  expect(await tasks.list({})).not.toHaveProperty('searchesTexts');
});

it('pages of a search by text begin where the last one ended, and only the first looks at the newest tasks', async () => {
  const asked: Record<string, unknown>[] = [];
  const pages: { readonly tasks: object[]; readonly isCut?: boolean }[] = [];
  const store = {
    searchesText: async () => true,
    async list(_: string, query: Record<string, unknown>) {
      asked.push(query);
      return { total: 9, ...(pages.shift() ?? { tasks: [] }) };
    },
    readFacts: async () => [],
  };
  const source = new Inspection([{ name: 'x', store: store as never }]).agent('x').tasks;
  pages.push(
    { tasks: [listed('b')], isCut: true },
    { tasks: [listed('refund', '2026-01-01T00:00:00.000Z'), listed('other'), listed('b')] },
  );
  const first = await source.list({ text: 'refund' });
  expect(first.tasks.map(({ id }) => id)).toEqual(['refund', 'b']);
  expect(first.next).toBe(`${old},b`);
  pages.push({ tasks: [listed('a')] });
  const second = await source.list({ text: 'refund' }, first.next);
  expect(second.tasks.map(({ id }) => id)).toEqual(['a']);
  expect(second.next).toBeUndefined();
  expect(asked).toEqual([
    { limit: 250, text: 'refund' },
    { limit: 250 },
    { limit: 250, text: 'refund', after: { statusAt: old, taskId: 'b' } },
  ]);
});

it('pages of several callers have what each page found of one below the end of another, and an id once', async () => {
  const at = (n: number) => new Date(Date.UTC(2026, 0, n)).toISOString();
  const [own, others] = [
    [listed('by refund', at(1))],
    Array.from({ length: 40 }, (_, n) => listed(`task-${n}`, at(50 - n))),
  ];
  const [first, id] = [others.slice(0, 25), listed('an-id', at(60))];
  const head = { ...id.head, state: 'TASK_STATE_WORKING' };
  const store = {
    searchesText: async () => true,
    load: async (scope: string, taskId: string) =>
      scope.includes('zoe') && taskId === id.taskId ? { head, facts: [] } : undefined,
    async list(scope: string, { text, after }: { text?: string; after?: { statusAt: string } }) {
      const rows = scope.includes('bob') ? others : scope.includes('ada') && text === undefined ? own : [];
      const rest = rows.filter(({ head }) => !after || head.statusAt < after.statusAt);
      return { total: 9, tasks: rest.slice(0, first.length) };
    },
    readFacts: async () => [],
  };
  const callers = ['bob', 'ada', 'zoe'].map((caller) => ({ caller }));
  const scopes = callers.map((caller) => callerScope('x', caller).scope);
  const found = async (text: string) => {
    const seen: string[] = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const query = { search: { text }, limit: 25, ...(after && { after }) };
      const page: RowList<TaskRow> = await listTasks(store as never, scopes, query, taskRows(store));
      seen.push(...page.tasks.map(({ id }) => id));
      after = page.next;
    }
    return seen;
  };
  const ids = others.map(({ taskId }) => taskId);
  expect(await found('refund')).toEqual([...ids, 'by refund']);
  expect(await found('an-id')).toEqual(['an-id', ...ids]);
});
