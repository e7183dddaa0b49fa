import { connect } from '@batonjs/client';
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
