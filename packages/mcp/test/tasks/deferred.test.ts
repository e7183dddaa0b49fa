import { type AgentClient, connect } from '@batonjs/client';
import { completed, inputRequired, type TaskUpdate, type Turn, working } from '@batonjs/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declared, rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { type McpHandlerOptions, mcpHandler } from '../../src/index.ts';
import { closedGate, serveAgent, serveMcp } from '../clients.ts';

const skills = ['plain', 'other'].map((id) => ({ id, name: id, description: 'Does it', tags: [] }));
const card = { name: 'Test', description: 'For tests', version: '1.0.0', skills };
const both = { ...declared.tasks, ...declared.forms };

/** An agent that is done at once, asks, or works until the gate opens, as it is told. */
function told() {
  const gate = closedGate();
  const canceled = Promise.withResolvers<void>();
  async function* agent({ text, messages, signal }: Turn): AsyncGenerator<TaskUpdate, void, void> {
    signal.addEventListener('abort', () => canceled.resolve());
    if (text === 'quick') return yield completed('Quick');
    if (text === 'ask') return yield inputRequired('Who?');
    yield working('On it');
    await gate.open;
    yield completed(`Done: ${messages.length}`);
  }
  return { agent, gate, canceled: canceled.promise };
}

async function serve(options: McpHandlerOptions) {
  const { agent: run, gate, canceled } = told();
  const served = await serveAgent({ card, agent: run });
  const mcp = await serveMcp(served.agent, options);
  const client = rawClient(mcp.url);
  const call = async (message: string, tool = 'plain', capabilities: object = both) =>
    client.tool(tool, { message }, { capabilities });
  return { ...served, ...mcp, gate, canceled, client, call };
}

const states = async (agent: AgentClient) =>
  (await agent.listTasks({})).tasks.map(({ status }) => status.state);

/** No test waits for it. */
const long = 600_000;

describe('with waitMs, a client that takes handles', () => {
  it('[R-MT-60] gets the result of what ends in time, and the handle of what goes on', async () => {
    const { call, client, gate } = await serve({ waitMs: 1 });
    const { result } = await call('work');
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    gate.release();
    await expect.poll(async () => (await client.get(result.taskId)).result.status).toBe('completed');
    const patient = await serve({ waitMs: long });
    expect((await patient.call('quick')).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'Quick' }],
    });
  });

  it.each([[{ waitMs: 1 }], [{}]])(
    '[R-MT-33] is asked before it has a handle, answers any server with the call, as one with %j, and gets the handle of what goes on',
    async (options) => {
      const { agent, call, gate } = await serve({ waitMs: long });
      const { result: asked } = await call('ask');
      expect(asked).toMatchObject({
        resultType: 'input_required',
        inputRequests: { answer: { params: { message: 'Who?' } } },
      });
      const params = {
        name: 'plain',
        arguments: { message: 'ask' },
        inputResponses: { answer: { action: 'accept', content: { answer: 'Ann' } } },
        requestState: asked.requestState,
      };
      const client = rawClient((await serveMcp(agent, options)).url);
      const { result } = await client.call('tools/call', params, { capabilities: both });
      expect(result.resultType).toBe('task');
      gate.release();
      await expect.poll(async () => (await client.get(result.taskId)).result.status).toBe('completed');
      expect((await client.get(result.taskId)).result.result.content[0].text).toBe('Done: 3');
    },
  );

  it('[R-MT-57] that declines the question of a call has canceled its task', async () => {
    const { client, call, agent } = await serve({ waitMs: long });
    const { result: asked } = await call('ask');
    const params = {
      name: 'plain',
      arguments: { message: 'ask' },
      inputResponses: { answer: { action: 'decline' } },
      requestState: asked.requestState,
    };
    const { result } = await client.call('tools/call', params, { capabilities: both });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'The question was declined, so the task was canceled.' }],
    });
    expect(await states(agent)).toEqual(['TASK_STATE_CANCELED']);
  });

  it('[R-MT-14] gets what each tool is set to: a handle at once beside one after a wait, or none', async () => {
    const tasks = { tools: { other: 'immediate' }, pollIntervalMs: 77, retentionMs: 5_000 } as const;
    const { call, client, gate } = await serve({ waitMs: long, tasks });
    const { result } = await call('work', 'other');
    expect(result).toMatchObject({ resultType: 'task', pollIntervalMs: 77, ttlMs: null });
    expect((await call('quick')).result.resultType).toBe('complete');
    gate.release();
    await expect.poll(async () => (await client.get(result.taskId)).result.status).toBe('completed');
    const { ttlMs, pollIntervalMs, createdAt, lastUpdatedAt } = (await client.get(result.taskId)).result;
    expect([ttlMs, pollIntervalMs]).toEqual([5_000 + Date.parse(lastUpdatedAt) - Date.parse(createdAt), 77]);
    const never = await serve({ waitMs: 1, tasks: { tools: { plain: 'forbidden' } } });
    const { result: running } = await never.call('work');
    expect(running).toMatchObject({
      resultType: 'complete',
      content: [{ text: expect.stringContaining('The task is still running.') }],
    });
  });

  it('[R-MT-12] and without the extension, a call waits so long and no longer, as it did', async () => {
    const { call, gate, agent } = await serve({ waitMs: 1, tasks: { tools: { other: 'immediate' } } });
    for (const tool of ['plain', 'other']) {
      const { result } = await call('work', tool, declared.forms);
      expect(result).toMatchObject({
        resultType: 'complete',
        content: [{ text: expect.stringContaining('The task is still running.') }],
      });
    }
    gate.release();
    await expect.poll(() => states(agent)).toEqual(['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
  });

  it('[R-MT-07] that leaves before it has the handle cancels its task', async () => {
    const { client, agent, canceled } = await serve({ waitMs: long });
    const stop = new AbortController();
    client.tool('plain', { message: 'work' }, { signal: stop.signal }).catch(() => undefined);
    await expect.poll(() => states(agent)).toEqual(['TASK_STATE_WORKING']);
    stop.abort();
    await canceled;
    await expect.poll(() => states(agent)).toEqual(['TASK_STATE_CANCELED']);
  });

  it('whose server closes before the handle leaves the task running, which goes on', async () => {
    const { agent: run, gate } = told();
    const { agent } = await serveAgent({ card, agent: run });
    const handler = mcpHandler(agent, { waitMs: long });
    onTestFinished(() => handler.close());
    const client = rawClient('http://localhost/mcp', handler.fetch);
    const calling = client.tool('plain', { message: 'work' }).catch((error: unknown) => error);
    await expect.poll(() => states(agent)).toEqual(['TASK_STATE_WORKING']);
    await handler.close();
    await calling;
    expect(await states(agent)).toEqual(['TASK_STATE_WORKING']);
    gate.release();
    await expect.poll(() => states(agent)).toEqual(['TASK_STATE_COMPLETED']);
  });
});

it('[R-MT-31] arguments that do not fit are an error of the tool, with a handle or without, and start nothing', async () => {
  for (const waitMs of [0, long]) {
    const { client, agent } = await serve({ waitMs });
    const { result } = await client.tool('plain', { words: 'x' });
    expect(result).toMatchObject({
      resultType: 'complete',
      isError: true,
      content: [{ text: expect.stringContaining('The arguments do not fit the tool') }],
    });
    expect(await states(agent)).toEqual([]);
  }
});

it('[R-MT-32] a handle waits for the task: an agent that stores it late answers late, and get finds it', async () => {
  const { agent: run } = told();
  const { server } = await serveAgent({ card, agent: run });
  const door = closedGate();
  const agent = await connect('http://localhost', {
    async fetch(request) {
      const response = await server.fetch(request);
      if (request.method === 'POST') await door.open;
      return response;
    },
  });
  const { url } = await serveMcp(agent);
  const client = rawClient(url);
  let hasHandle = false;
  const calling = client.tool('plain', { message: 'work' }).then(({ result }) => {
    hasHandle = true;
    return result;
  });
  await expect
    .poll(async () => (await states(await connect('http://localhost', { fetch: server.fetch }))).length)
    .toBe(1);
  expect(hasHandle).toBe(false);
  door.release();
  const { taskId } = await calling;
  expect((await client.get(taskId)).result.status).toBe('working');
});
