import { connect } from '@batonjs/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { closedGate, serveAgent, serveMcp, serveSkills } from './clients.ts';
import { skillsAgent } from './skills-agent.ts';

/** A client of MCP 2025-11-25, with its methods for tasks. */
async function open(url: URL) {
  const client = new Client({ name: 'test', version: '1' });
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree about exact optional members.
  await client.connect(new StreamableHTTPClientTransport(url) as any);
  onTestFinished(() => client.close());
  return { client, tasks: client.experimental.tasks };
}

it('a client that stops waiting for the result of a task of MCP leaves the task running', async () => {
  const gate = closedGate();
  const { server } = await serveAgent(skillsAgent(gate));
  const isFollowed = Promise.withResolvers<void>();
  const methods: string[] = [];
  const agent = await connect('http://localhost', {
    async fetch(request) {
      const text = await request.clone().text();
      const { method } = text ? (JSON.parse(text) as { method: string }) : { method: 'the card' };
      methods.push(method);
      const response = await server.fetch(request);
      if (method === 'SubscribeToTask') isFollowed.resolve();
      return response;
    },
  });
  const { url } = await serveMcp(agent);
  const { client, tasks } = await open(url);
  const call = { name: 'slow', arguments: {} };
  const stream = tasks.callToolStream(call, CallToolResultSchema, { task: {} });
  const created = (await stream.next()).value!;
  if (created.type !== 'taskCreated') throw new Error(JSON.stringify(created));
  await stream.return();
  const { taskId } = created.task;

  const stop = new AbortController();
  const waiting = tasks.getTaskResult(taskId, CallToolResultSchema, { signal: stop.signal });
  await isFollowed.promise;
  stop.abort(new Error('Too long'));
  await expect(waiting).rejects.toThrow('Too long');
  await client.callTool({ name: 'files', arguments: {} });
  expect(methods).not.toContain('CancelTask');
  gate.release();
  expect(await tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: 'one two' }],
  });
});

it('a cursor that is none is a wrong parameter of tasks/list', async () => {
  const { tasks } = await open((await serveSkills()).url);
  await expect(tasks.listTasks('none')).rejects.toThrow(/-32602/);
});

it('tasks/list goes on where the page before ended, and every method has its task', async () => {
  const { agent } = await serveAgent(skillsAgent(closedGate()));
  const ids: string[] = [];
  for (let n = 0; n < 51; n += 1) ids.push((await agent.send('name')).task!.id);
  const { client, tasks } = await open((await serveMcp(agent)).url);
  const first = await tasks.listTasks();
  expect([first.tasks.length, typeof first.nextCursor]).toEqual([50, 'string']);
  const second = await tasks.listTasks(first.nextCursor);
  expect([second.tasks.length, 'nextCursor' in second]).toEqual([1, false]);
  expect([...first.tasks, ...second.tasks].map(({ taskId }) => taskId).sort()).toEqual(ids.sort());
  const any = z.looseObject({});
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/result'])
    for (const params of [{}, { taskId: '' }, { taskId: 7 }])
      await expect(client.request({ method, params } as never, any as never)).rejects.toThrow(/-32602/);
});

it('tasks/result tells of a question that was declined, and of its task', async () => {
  const { agent } = await serveAgent(skillsAgent(closedGate()));
  const { url } = await serveMcp(agent);
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree about exact optional members.
  await client.connect(new StreamableHTTPClientTransport(url) as any);
  onTestFinished(() => client.close());
  const { id: taskId } = (await agent.send('name')).task!;
  const { tasks } = client.experimental;
  expect(await tasks.getTaskResult(taskId, CallToolResultSchema)).toMatchObject({
    content: [{ text: 'The question was declined, so the task was canceled.' }],
    isError: true,
    _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
  });
  await expect(tasks.cancelTask(taskId)).rejects.toThrow('The task has ended already: cancelled');
});

it('a task that is asked for with arguments that do not fit is refused as the call is', async () => {
  const { url, agent } = await serveSkills();
  const { client } = await open(url);
  const result = await client.callTool({ name: 'Skills', arguments: {} }).catch((error: unknown) => error);
  expect(String(result)).toMatch(/Unknown tool/);
  const plain = await serveAgent({
    card: { name: 'Plain', description: 'Takes a message' },
    async *agent() {},
  });
  const other = await open((await serveMcp(plain.agent)).url);
  const params = { name: 'Plain', arguments: { words: 'x' }, task: { ttl: 60_000 } };
  const refused = await other.client.request({ method: 'tools/call', params }, CallToolResultSchema);
  expect(refused).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('The arguments do not fit the tool') }],
  });
  for (const one of [agent, plain.agent]) expect((await one.listTasks({})).tasks).toEqual([]);
});
