import { type AgentClient, connect } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { node } from '../../../../test/kit/processes.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { closedGate, textOf } from '../clients.ts';
import { type Gate, skillsAgent } from '../skills-agent.ts';

const program = [await builtProgram(new URL('./stdio-program.ts', import.meta.url))];
const gate: Gate & { release(): void } = closedGate();
let listening: Awaited<ReturnType<typeof listen>>;
let url: string;
let agent: AgentClient;
const server = createAgentServer({ ...skillsAgent(gate), store: memoryStore(), logger: () => {} });

beforeAll(async () => {
  listening = await listen(server, { port: 0 });
  url = listening.url;
  agent = await connect(url);
});
afterAll(() => listening.close({ graceMs: 0 }));

/** Closes the gate again. */
function close() {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.open = promise;
  gate.release = resolve;
}

describe('the program over stdio', () => {
  const start = () => new StdioClientTransport({ command: node, args: [...program, url], stderr: 'pipe' });

  it('goes on with the task of a program that was killed', async () => {
    close();
    const first = new Client({ name: 'test', version: '1' });
    const transport = start();
    await first.connect(transport);
    const isThinking = Promise.withResolvers<void>();
    const onprogress = ({ message }: { message?: string }) => message === 'Thinking' && isThinking.resolve();
    const call = first.callTool({ name: 'slow' }, { onprogress }).then(textOf, () => 'lost');
    await isThinking.promise;
    process.kill(transport.pid!, 'SIGKILL');
    expect(await call).toBe('lost');

    const second = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await second.connect(start());
    onTestFinished(() => second.close());
    const [running] = (await agent.listTasks({})).tasks;
    const arguments_ = { taskId: running!.id };
    const going = second.callTool({ name: 'continue_task', arguments: arguments_ });
    gate.release();
    expect(textOf(await going)).toBe('one two');
  });

  it('ends when its client closes, and leaves its task running', async () => {
    close();
    const client = new Client({ name: 'test', version: '1' });
    const transport = start();
    await client.connect(transport);
    const isThinking = Promise.withResolvers<string>();
    const call = client
      .callTool(
        { name: 'slow' },
        { onprogress: ({ message }) => message === 'Thinking' && isThinking.resolve('') },
      )
      .catch(() => {});
    await isThinking.promise;
    const { pid } = transport;
    await client.close();
    await call;
    await eventually(() => expect(() => process.kill(pid!, 0)).toThrow('ESRCH'));
    const { tasks } = await agent.listTasks({ status: 'TASK_STATE_WORKING' });
    expect(tasks).toHaveLength(1);
    gate.release();
    expect((await agent.follow(tasks[0]!.id).result()).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('a task of MCP 2025-11-25, for a client of the SDK 1', () => {
  const open = async (answers: (object | undefined)[] = []) => {
    const transport = new OlderStdio({ command: node, args: [...program, url], stderr: 'pipe' });
    const client = new OlderClient({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
    const left = [...answers];
    client.setRequestHandler(ElicitRequestSchema, () => {
      const content = left.shift() as Record<string, string> | undefined;
      return content ? { action: 'accept', content } : { action: 'cancel' };
    });
    await client.connect(transport);
    onTestFinished(() => client.close());
    return { client, kill: () => process.kill(transport.pid!, 'SIGKILL') };
  };

  it('is the task of the agent, which another program knows after a kill', async () => {
    close();
    const first = await open();
    const { tools } = await first.client.listTools();
    expect(tools.find(({ name }) => name === 'slow')).toMatchObject({
      execution: { taskSupport: 'optional' },
    });
    const call = { name: 'slow', arguments: {} };
    const stream = first.client.experimental.tasks.callToolStream(call, CallToolResultSchema, { task: {} });
    const created = (await stream.next()).value!;
    if (created.type !== 'taskCreated') throw new Error(JSON.stringify(created));
    const { taskId } = created.task;
    expect((await agent.task(taskId).get()).id).toBe(taskId);
    first.kill();
    await stream.return();

    const { tasks } = (await open()).client.experimental;
    await eventually(async () =>
      expect(await tasks.getTask(taskId)).toMatchObject({ taskId, status: 'working', ttl: null }),
    );
    expect((await tasks.listTasks()).tasks.map((task) => task.taskId)).toContain(taskId);
    const result = tasks.getTaskResult(taskId, CallToolResultSchema);
    gate.release();
    expect(await result).toMatchObject({
      content: [{ text: 'one two' }],
      _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
    });
    expect(await tasks.getTask(taskId)).toMatchObject({ status: 'completed' });
    await expect(tasks.cancelTask(taskId)).rejects.toThrow(/ended already: completed/);
    await expect(tasks.getTask('none')).rejects.toThrow(/-32602.*Task not found/);
  });

  it('asks the user while its client waits for the result, and is canceled by its id', async () => {
    close();
    const { client } = await open([{ city: 'Rome', nights: 2 }]);
    const { tasks } = client.experimental;
    const seen: string[] = [];
    const call = { name: 'book', arguments: {} };
    for await (const message of tasks.callToolStream(call, CallToolResultSchema, { task: {} })) {
      seen.push(message.type);
      if (message.type === 'result')
        expect(message.result.content).toMatchObject([{ text: '2 nights in Rome' }]);
    }
    expect(seen.at(0)).toBe('taskCreated');
    expect(seen.at(-1)).toBe('result');

    const slow = tasks.callToolStream({ name: 'slow', arguments: {} }, CallToolResultSchema, { task: {} });
    const created = (await slow.next()).value!;
    if (created.type !== 'taskCreated') throw new Error(JSON.stringify(created));
    await tasks.cancelTask(created.task.taskId);
    await eventually(async () =>
      expect(await tasks.getTask(created.task.taskId)).toMatchObject({ status: 'cancelled' }),
    );
    await slow.return();
  });
});
