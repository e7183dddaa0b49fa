import { connect } from '@batonjs/client';
import { type Agent, completed } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { serve as serveAgent } from '../../../../test/kit/serve.ts';
import { Inspection } from '../../src/inspection.ts';
import { type Json, serve } from './inspector-api.ts';

const agent: Agent = async function* () {
  yield completed('Done');
};

/** An agent whose callers have names, with an inspector that was given none of them. */
async function callers(count: number) {
  const store = closedAfterTest(sqliteStore(':memory:', { textSearch: true }));
  const server = serveAgent(agent, {
    name: 'many',
    store,
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'nameless' }),
  });
  const send = async (caller: string, text: string) => {
    const options = { headers: { 'X-Caller': caller }, fetch: (request: Request) => server.fetch(request) };
    return (await (await connect('http://many.localhost', options)).send(text)).task!.id;
  };
  const sent: { id: string; caller: string }[] = [];
  for (let n = 0; n < count; n++)
    // The first caller is busy.
    for (const caller of count === 30 ? ['c0', `c${n}`] : [`c${n}`])
      sent.unshift({ caller, id: await send(caller, n === 7 ? 'a rare refund' : 'hello') });
  // What began is written when the process closes.
  await server.close();
  const { call, feed } = await serve({ agents: [{ name: 'many', store }] });
  const list = async (query = '') =>
    (await call(`/agents/many/tasks${query}`)).json as unknown as {
      tasks: Json[];
      next?: string;
      total?: number;
    };
  return { call, feed, list, sent };
}

it('lists the tasks of all callers whom the agent has had, newest first, page by page, each once', async () => {
  const { list, sent } = await callers(30);
  const rows: Json[] = [];
  const sizes: number[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page = await list(next && `?after=${encodeURIComponent(next)}`);
    expect(page.total).toBe(60);
    rows.push(...page.tasks);
    sizes.push(page.tasks.length);
    next = page.next;
  }
  expect(rows.map(({ id }) => id).sort()).toEqual(sent.map(({ id }) => id).sort());
  const times = rows.map(({ statusAt }) => String(statusAt));
  expect(times).toEqual(times.toSorted().reverse());
  const callerOf = new Map(sent.map(({ id, caller }) => [id, caller]));
  for (const { id, caller } of rows) expect(caller).toBe(callerOf.get(String(id)));
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes.every((size) => size > 0)).toBe(true);
});

it('finds a task by a word, by its id, and by a filter, whoever called, and leads to it', async () => {
  const { call, feed, list, sent } = await callers(9);
  const wanted = sent.find(({ caller }) => caller === 'c7')!;
  for (const query of ['?q=refund', `?q=${wanted.id.slice(-12)}`, '?q=caller:c7']) {
    const { tasks } = await list(query);
    expect(tasks.map(({ id, caller }) => [id, caller])).toEqual([[wanted.id, 'c7']]);
    const [open] = await feed(
      `/agents/many/tasks/${wanted.id}/timeline?scope=${tasks[0]?.scope}`,
      ({ type }) => type === 'live',
    );
    expect(open).toMatchObject({ type: 'open', kind: 'log' });
  }
  expect((await list('?q=nothing')).tasks).toEqual([]);
  expect((await list('?state=TASK_STATE_FAILED')).total).toBe(0);
  const lines = await feed('/feed', ({ type }) => type === 'counts');
  expect(lines.at(-1)).toMatchObject({ counts: { TASK_STATE_COMPLETED: 9 } });
  const { agents } = (await call('/session')).json as unknown as { agents: { scopes: string[] }[] };
  expect(agents[0]?.scopes).toEqual(['anonymous callers', ...Array.from({ length: 9 }, (_, n) => `c${n}`)]);
});

it('waits for callers that another request looks for: a page asks for several things at once', async () => {
  const store = memoryStore();
  const since = new Date().toISOString();
  await store.putRecord('callers/x/a', 0, { scope: '["x","","ada"]', caller: 'ada', since });
  const { refresh, scopes } = new Inspection([{ name: 'x', store }]).agent('x').store!;
  const first = refresh();
  await refresh();
  expect(scopes.map(({ label }) => label)).toEqual(['anonymous callers', 'ada']);
  await first;
});
