import { v03 } from '@batonjs/bindings-v0-3';
import { connect } from '@batonjs/client';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { switchable } from '../../../../test/kit/faulty-store.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { serve as serveAgent } from '../../../../test/kit/serve.ts';
import { showAgent } from '../show-agent.ts';
import { type Json, serve } from './inspector-api.ts';

/** The server of an agent whose store answers until `broken.isDown`, with tasks of Ada and of Bob. */
async function callers() {
  const broken = switchable(memoryStore());
  const { card, agent } = showAgent(async () => {});
  const server = serveAgent(agent, {
    card,
    name: 'many',
    store: broken.store,
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'nameless' }),
  });
  const clientOf = (caller: string) =>
    connect('http://many.localhost', {
      fetch: (request) => server.fetch(request),
      headers: { 'X-Caller': caller },
    });
  const api = await serve({
    allow: ['add-agent'],
    agents: [
      { server, callers: [{ caller: 'ada' }, { caller: 'bob' }] },
      { name: 'kept', store: memoryStore() },
      { name: 'far', url: 'http://127.0.0.1:9', connect: { retry: false } },
    ],
  });
  return { ...api, broken, clientOf, ada: await clientOf('ada'), bob: await clientOf('bob') };
}

it('the overview counts what is open of each agent whose store answers, for all callers that are shown', async () => {
  const { call, ada, bob, broken, clientOf } = await callers();
  for (let n = 0; n < 2; n += 1) await ada.send('ask');
  await ada.send('auth');
  await ada.send('steps');
  await bob.send('ask');
  const perHour = Array(24).fill(0);
  const none = {
    asking: 0,
    working: 0,
    waiting: 0,
    ended: 0,
    failed: 0,
    perHour,
    processes: [],
    versions: [],
  };
  const used = { tokens: 0, costs: {}, p95Ms: expect.any(Number) };
  const many = { ...none, ...used, asking: 4, ended: 1, perHour: [...perHour.slice(1), 1] };
  await expect
    .poll(async () => (await call('/overview')).json, { timeout: 10_000 })
    .toEqual({ many, kept: none });
  const stranger = await clientOf('carl');
  await stranger.send('ask');
  await stranger.send('auth');
  expect((await call('/overview')).json.many).toEqual({ ...many, hidden: 2 });
  broken.isDown = true;
  expect((await call('/overview')).json).toEqual({ kept: none });
});

it('one feed has the lists of all agents, or of those that are asked for', async () => {
  const { feed, call } = await callers();
  const agents = (lines: Json[]) =>
    [
      ...new Set(lines.filter(({ type }) => type === 'list' || type === 'problem').map(({ agent }) => agent)),
    ].sort();
  const seen = new Set<string>();
  const all = await feed('/feed', ({ agent }) => seen.add(String(agent)).size === 3);
  expect(agents(all)).toEqual(['far', 'kept', 'many']);
  const some = await feed('/feed?agent=kept&agent=', ({ type }) => type === 'counts');
  expect(agents(some)).toEqual(['kept']);
  expect(await call('/feed?agent=none')).toMatchObject({
    status: 404,
    message: 'The inspector knows no agent none',
  });
});

it('lists are those of one caller, where a store has such tasks', async () => {
  const { call, feed, ada, bob } = await callers();
  await ada.send('ask');
  const { task } = await bob.send('ask');
  const ids = async (path: string) =>
    ((await call(path)).json as unknown as { tasks: Json[] }).tasks.map(({ id }) => id);
  expect(await ids('/agents/many/tasks?q=caller:bob')).toEqual([task!.id]);
  const lines = await feed('/feed?q=caller:bob', ({ type }) => type === 'counts');
  expect(lines).toMatchObject([
    { agent: 'many', type: 'list', list: { tasks: [{ id: task!.id }] } },
    { agent: 'many', type: 'counts' },
  ]);
  const message = 'The inspector has no store with tasks of eve';
  for (const path of [
    '/agents/many/tasks?q=caller:eve',
    '/feed?agent=many&q=caller:eve',
    '/feed?q=caller:eve',
  ])
    expect(await call(path)).toMatchObject({ status: 404, message });
});

it('a task and its log are those of the scope that is asked for', async () => {
  const { call, feed, bob } = await callers();
  const { task } = await bob.send('ask');
  const at = `/agents/many/tasks/${task!.id}`;
  const [open] = await feed(`${at}/timeline?scope=1`, ({ type }) => type === 'live');
  expect(open).toMatchObject({ type: 'open', kind: 'log' });
  expect(await call(`${at}/timeline`)).toMatchObject({
    status: 404,
    message: `The store has no task ${task!.id}`,
  });
});

it('the tasks of an agent that lists none are those that the inspector saw', async () => {
  const { card, agent } = showAgent(async () => {});
  let handle = (_request: never, response: { end(): void }): void => response.end();
  const url = await listen((request, response) => handle(request as never, response));
  const server = serveAgent(agent, {
    publicUrl: url,
    compatibility: [v03()],
    card: {
      ...card,
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
    },
  });
  handle = nodeHandler(server) as never;
  const { call } = await serve({ allow: ['send'], agents: [{ name: 'old', url }] });
  const list = async () => (await call('/agents/old/tasks')).json;
  expect(await list()).toEqual({ tasks: [], source: 'seen' });
  const { json } = await call('/agents/old/messages', { parts: [{ text: 'ask' }] });
  expect(await list()).toMatchObject({
    tasks: [{ id: json.taskId, state: 'TASK_STATE_INPUT_REQUIRED' }],
    source: 'seen',
  });
});

it('an agent is no problem any more once its card was read', async () => {
  let isUp = false;
  const { card, agent } = showAgent(async () => {});
  const handle = nodeHandler(serveAgent(agent, { card }));
  const url = await listen((request, response) => {
    if (isUp) return handle(request, response);
    response.writeHead(404).end();
  });
  const { call } = await serve({ agents: [{ name: 'late', url, connect: { retry: false } }] });
  const late = async () => ((await call('/session')).json as unknown as { agents: Json[] }).agents[0]!;
  await expect.poll(late).toHaveProperty('problem');
  expect(await late()).toMatchObject({ name: 'late' });
  isUp = true;
  expect((await call('/agents/late/card')).status).toBe(200);
  const known = await late();
  expect(known).toMatchObject({ name: 'Show', description: 'Shows everything that an agent can send.' });
  expect(known).not.toHaveProperty('problem');
});
