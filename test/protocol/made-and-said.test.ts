import { createServer } from 'node:http';
import { agUiHandler } from '@batonjs/ag-ui';
import { A2AChatTransport, chatMessages } from '@batonjs/ai-sdk/chat';
import { a2aTools } from '@batonjs/ai-sdk/client';
import { type AgentClient, connect, textOf } from '@batonjs/client';
import {
  artifact,
  authRequired,
  canceled,
  completed,
  data,
  failed,
  inputRequired,
  rejected,
  type TaskUpdate,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import type { ToolExecutionOptions } from 'ai';
import { expect, it } from 'vitest';
import { linesOf, versions } from '../../packages/ag-ui/test/clients.ts';
import { cli } from '../../packages/cli/test/cli.ts';
import { mcpClient, versions as mcpVersions, serveMcp } from '../../packages/mcp/test/clients.ts';
import { clientOf, serveParent } from '../../packages/nested-tasks/test/family.ts';
import { serveTasks } from '../../packages/task-gateway/test/service.ts';
import { listen } from '../kit/listen.ts';
import { serve } from '../kit/serve.ts';

const words = 'May this be sent?';
const made = 'Dear Ms Lovelace';
const toolCalls = [{ toolCallId: 'c', toolName: 'send', input: {}, needs: 'approval' }];

/** The states in which a task has something to say, after it has made a draft. */
const ends: Readonly<Record<string, TaskUpdate>> = {
  COMPLETED: completed(words),
  FAILED: failed(words),
  REJECTED: rejected(words),
  CANCELED: canceled(words),
  INPUT_REQUIRED: inputRequired(words),
  'INPUT_REQUIRED for an approval': inputRequired([{ text: words }, data({ toolCalls })]),
  AUTH_REQUIRED: authRequired(words),
};

const serveEnd = (end: TaskUpdate) =>
  serve(async function* () {
    yield artifact('draft', made);
    yield end;
  });

type Server = ReturnType<typeof serveEnd>;
const options = { toolCallId: 'c', messages: [], context: {} } as unknown as ToolExecutionOptions<never>;

/** Every reader of a task that gets no task: what it is given for the one of this agent, in this state. */
const translations: Readonly<Record<string, (server: Server, agent: AgentClient) => Promise<unknown>>> = {
  async 'a tool of the AI SDK'(_, agent) {
    const { letters } = await a2aTools({ letters: agent });
    return letters!.execute!({ message: 'Write' } as never, options);
  },
  async 'a chat, live'(_, agent) {
    const sent = await new A2AChatTransport(agent).sendMessages({
      trigger: 'submit-message',
      chatId: 'chat',
      messageId: undefined,
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Write' }] }],
      abortSignal: undefined,
    });
    const chunks: unknown[] = [];
    for await (const chunk of sent as never as AsyncIterable<unknown>) chunks.push(chunk);
    return chunks;
  },
  async 'AG-UI, live'(server) {
    const [, open] = versions[1]!;
    const front = open('http://localhost', 'thread', { fetch: agUiHandler(server).fetch });
    front.say('Write');
    await front.run().catch(() => {});
    return [linesOf(front), front.events];
  },
  async 'a client of MCP'(_, agent) {
    const { url } = await serveMcp(agent);
    return (await mcpClient(url, mcpVersions[0])).callTool({ name: 'Test', arguments: { message: 'Write' } });
  },
  async 'a user of MCP'(_, agent) {
    const { url } = await serveMcp(agent);
    const client = await mcpClient(url, mcpVersions[0], [undefined]);
    const result = await client.callTool({ name: 'Test', arguments: { message: 'Write' } });
    return client.asked.length > 0 ? client.asked : result;
  },
  async 'a task of the gateway'(server) {
    const service = await serveTasks({ types: { work: server } });
    await service.post('/task', { taskId: 't', type: 'work', data: {} });
    const isSeen = ({ form, status }: { form?: object; status: string }) =>
      form || /ed$/.test(status.slice(2));
    return service.until('t', (task) => isSeen(task) && task.status !== 'created');
  },
  async 'a parent'(server) {
    const parent = await clientOf(
      serveParent(async function* (turn) {
        const { task } = await turn.call(server, 'Write', { name: 'child' });
        yield completed(JSON.stringify(task));
      }),
    );
    let said = '';
    for await (const { task, statusUpdate } of parent.stream('Write')) {
      said = textOf((task ?? statusUpdate)?.status.message) || said;
      if ((task ?? statusUpdate)?.status.state === 'TASK_STATE_AUTH_REQUIRED') break;
    }
    return said;
  },
  async 'the command line'(server) {
    const url = await listen(createServer(nodeHandler(server)));
    const { stdout, stderr } = await cli(`send -a ${url} Write`);
    return stdout + stderr;
  },
};

it.each(
  Object.entries(translations).flatMap(([reader, translate]) =>
    Object.entries(ends).map(([state, end]) => [reader, state, translate, end] as const),
  ),
)('%s is given both what was made and what was said: %s', async (_reader, _state, translate, end) => {
  const server = serveEnd(end);
  const agent = await connect('http://localhost', { fetch: server.fetch });
  const given = await translate(server, agent);
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  expect(text).toContain(made);
  expect(text).toContain(words);
  expect(text, 'apart').not.toContain(made + words);
});

it('a chat that is loaded again shows both', async () => {
  const agent = await connect('http://localhost', { fetch: serveEnd(completed(words)).fetch });
  await agent.send('Write', { contextId: 'chat' });
  const shown = JSON.stringify(await chatMessages(agent, 'chat'));
  expect([shown.includes(made), shown.includes(words)]).toEqual([true, true]);
});
