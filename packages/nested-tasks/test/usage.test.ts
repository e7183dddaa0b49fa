import { once } from 'node:events';
import { connect } from '@batonjs/client';
import { extend, taskUsage } from '@batonjs/extensions';
import { LABELS, TASK_TREE, treeOf, USAGE } from '@batonjs/extensions/client';
import type { CallingAgent } from '@batonjs/nested-tasks';
import { forkTask } from '@batonjs/operator';
import { type Agent, type AgentServer, artifact, completed, type Turn, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { clientOf, serveParent } from './family.ts';

const used = { model: 'small', inputTokens: 7, outputTokens: 3, cost: 0.25, currency: 'USD' };
const card = { name: 'Reports', description: 'Says what it used' };
const reporting = taskUsage({ card, agent: () => [] as never }).card;

const asks = async (turn: Turn, usage = used) => turn.step('ask', { usage: () => usage }, () => 'well');
const leafAgent: Agent = async function* (turn) {
  yield working('Asks');
  await asks(turn);
  yield completed();
};
const serveLeaf = (agent = leafAgent) => serve(agent, extend({ card, agent }, taskUsage));
const client = (server: AgentServer, ...more: string[]) => clientOf(server, { extensions: [USAGE, ...more] });
const reportOf = async (server: AgentServer, id: string) =>
  (await (await client(server)).getTask({ id })).metadata?.[USAGE];

it('what the tasks below used is in the sum of each above, and apart from it, each child once', async () => {
  const leaf = serveLeaf();
  const middle = serveParent(
    async function* (turn) {
      await turn.call(leaf, 'Go', { name: 'one' });
      await turn.call(leaf, 'Go', { name: 'two' });
      await asks(turn, { ...used, cost: 0.000001, currency: 'EUR' });
      if (turn.attempt < 3) throw new Error('Again');
      yield completed();
    },
    { card: reporting },
    { retry: { retries: 2, backoff: { initialMs: 1 } } },
  );
  const store = memoryStore();
  const agent: CallingAgent = async function* (turn) {
    await turn.call(middle, 'Go', { name: 'middle' });
    yield completed();
  };
  const top = serveParent(agent, { card: reporting }, { store });
  const { task } = await (await client(top, TASK_TREE)).send('Go');
  const below = { tokens: 30, costs: { USD: 500_000, EUR: 1 } };
  expect(await reportOf(top, task!.id)).toEqual({ ...below, others: below });
  const [inside] = (await (await client(middle)).listTasks()).tasks;
  const others = { tokens: 20, costs: { USD: 500_000 } };
  expect(inside?.metadata).toEqual({ [USAGE]: { ...below, others } });
  const both = await (await client(top, TASK_TREE, LABELS)).getTask({ id: task!.id });
  expect(Object.keys(both.metadata ?? {})).toEqual([TASK_TREE, USAGE]);
  const trees: unknown[] = [treeOf(both)];
  for await (const event of (await client(middle, TASK_TREE)).stream('Go')) trees.push(treeOf(event));
  expect(trees.length).toBeGreaterThan(4);
  expect(JSON.stringify(trees)).not.toContain('tokens');
  expect((await (await clientOf(top)).getTask({ id: task!.id })).metadata).not.toHaveProperty([USAGE]);
  // What the origin used is the origin's.
  const facts = await store.readFacts(scope, task!.id, 0, 100);
  const reported = facts.findLast(({ fact }) => fact.type === 'child-updated');
  const fork = await forkTask(top, task!.id, { from: reported!.version });
  await eventually(async () => expect(await reportOf(top, fork)).toEqual({ tokens: 0, costs: {} }));
});

it('an agent that does not declare it reports nothing, and is not asked', async () => {
  const leaf = serve(leafAgent);
  const asked: string[] = [];
  const open = connect('http://localhost', {
    fetch: async (request) => {
      asked.push(`${request.headers.get('A2A-Extensions')} ${await request.clone().text()}`);
      return leaf.fetch(request);
    },
  });
  const top = serveParent(
    async function* (turn) {
      await turn.call(await open, 'Go', { name: 'leaf' });
      yield completed();
    },
    { card: reporting },
  );
  const { task } = await (await client(top)).send('Go');
  expect(await reportOf(top, task!.id)).toEqual({ tokens: 0, costs: {} });
  expect(asked.join()).not.toMatch(/usage|GetTask/);
});

it.each([
  ['numbers that cannot be', { tokens: -5, costs: {} }],
  ['nothing', undefined],
  ['an error', 'error'],
])('a report of %s does not fail the call, and does not count', async (_, report) => {
  const leaf = serveLeaf();
  const open = connect('http://localhost', {
    retry: false,
    async fetch(request) {
      const { method } = request.method === 'POST' ? await request.clone().json() : {};
      const response = await leaf.fetch(request);
      if (method !== 'GetTask') return response;
      const reply = await response.json();
      if (report === 'error') return Response.json({ ...reply, result: undefined, error: { code: -32603 } });
      return Response.json({ ...reply, result: { ...reply.result, metadata: { [USAGE]: report } } });
    },
  });
  const top = serveParent(
    async function* (turn) {
      const { task } = await turn.call(await open, 'Go', { name: 'leaf' });
      yield completed(task?.status.state);
    },
    { card: reporting, unreachableMs: 50 },
  );
  const { task } = await (await client(top)).send('Go');
  expect(task?.status).toMatchObject({ message: { parts: [{ text: 'TASK_STATE_COMPLETED' }] } });
  expect(await reportOf(top, task!.id)).toEqual({ tokens: 0, costs: {} });
});

it('a report that came stays, although the child is read again because its reply is too long to be kept', async () => {
  const leaf = serveLeaf(async function* (turn) {
    await asks(turn);
    yield artifact('long', 'x'.repeat(300_000));
    yield completed();
  });
  let reads = 0;
  const open = connect('http://localhost', {
    retry: false,
    async fetch(request) {
      const { method } = request.method === 'POST' ? await request.clone().json() : {};
      if (method === 'GetTask') reads += 1;
      // The second one is of the task, the third one would be of the report.
      return method === 'GetTask' && reads > 2 ? new Response('', { status: 500 }) : leaf.fetch(request);
    },
  });
  const top = serveParent(
    async function* (turn) {
      await turn.call(await open, 'Go', { name: 'leaf' });
      if (turn.attempt < 2) throw new Error('Again');
      yield completed();
    },
    { card: reporting, unreachableMs: 50 },
    { retry: { retries: 1, backoff: { initialMs: 1 } } },
  );
  const { task } = await (await client(top)).send('Go');
  expect(await reportOf(top, task!.id)).toMatchObject({ tokens: 10 });
});

it('a process that dies between the end of a child and its report leaves the report to the next one', async () => {
  const leaf = serveLeaf();
  const store = memoryStore();
  const held = Promise.withResolvers<void>();
  let isFirst = true;
  const open = () =>
    connect('http://localhost', {
      async fetch(request) {
        const { method } = request.method === 'POST' ? await request.clone().json() : {};
        if (method !== 'GetTask' || !isFirst) return leaf.fetch(request);
        isFirst = false;
        held.resolve();
        return new Promise(() => {});
      },
    });
  const start = () =>
    serveParent(
      async function* (turn) {
        await turn.call(await open(), 'Go', { name: 'leaf' });
        yield completed();
      },
      { card: reporting },
      { store },
    );
  const first = start();
  const { task } = await (await client(first)).send('Go', { returnImmediately: true });
  await held.promise;
  await first.close({ graceMs: 0 });
  const second = start();
  await (await client(second)).follow(task!.id).result();
  const others = { tokens: 10, costs: { USD: 250_000 } };
  expect(await reportOf(second, task!.id)).toEqual({ ...others, others });
});

it('a child that is canceled with its parent has used what it used', async () => {
  const leaf = serveLeaf(async function* (turn) {
    await asks(turn);
    yield working('Asked');
    await once(turn.signal, 'abort');
  });
  const top = serveParent(
    async function* (turn) {
      const asked = Promise.withResolvers<void>();
      const relay = () => asked.resolve() as undefined;
      turn.call(leaf, 'Go', { name: 'leaf', relay }).catch(() => {});
      await asked.promise;
      await eventually(async () =>
        expect((await (await client(leaf)).listTasks()).tasks[0]?.metadata).toMatchObject({
          [USAGE]: { tokens: 10 },
        }),
      );
      yield completed();
    },
    { card: reporting },
  );
  const { task } = await (await client(top)).send('Go');
  const others = { tokens: 10, costs: { USD: 250_000 } };
  expect(await reportOf(top, task!.id)).toEqual({ ...others, others });
});
