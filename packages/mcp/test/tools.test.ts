import { createServer } from 'node:http';
import { type AgentClient, answer, connect, textOf } from '@batonjs/client';
import { extend, FORM_INPUT, formInput, TASK_PROGRESS, taskProgress } from '@batonjs/extensions';
import { formOf, progressOf } from '@batonjs/extensions/client';
import { type Agent, inputRequired as asking, completed, createAgentServer, failed } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../test/kit/listen.ts';
import { eventually } from '../../../test/kit/until.ts';
import { callTool, mcpTools, ToolError, type ToolResult } from '../src/tools.ts';

const empty = z.object({});
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
const wordsOf = ({ content: [first] }: ToolResult) => (first?.type === 'text' ? first.text : '');

/** An MCP server of the SDK with tools that note their calls, and a client that is connected to it. */
async function tools() {
  const calls: string[] = [];
  const aborted = Promise.withResolvers<void>();
  const serve = () => {
    const server = new McpServer({ name: 'tools', version: '1.0.0' });
    const note = (name: string) => calls.push(name);
    server.registerTool('count', { description: 'Counts', inputSchema: empty }, () =>
      text(`call ${note('count')}`),
    );
    server.registerTool('fails', { inputSchema: empty }, () => {
      note('fails');
      return { ...text('No such city'), isError: true };
    });
    server.registerTool('slow', { inputSchema: empty }, async (_args, { mcpReq }) => {
      note('slow');
      const progressToken = mcpReq._meta!.progressToken!;
      const params = { progressToken, progress: 1, total: 3, message: 'One of three' };
      await mcpReq.notify({ method: 'notifications/progress', params });
      await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
      aborted.resolve();
      return text('never');
    });
    const place = z.object({ city: z.string().min(2), nights: z.int().min(1) });
    const sure = z.object({ sure: z.boolean() });
    server.registerTool(
      'book',
      { inputSchema: z.object({ who: z.string() }) },
      async ({ who }, { mcpReq }) => {
        note('book');
        const { inputResponses } = mcpReq;
        const answered = inputResponse(inputResponses, 'where');
        if (answered.kind === 'elicit' && answered.action !== 'accept') return text(answered.action);
        const known = mcpReq.requestState<string>();
        const where = known ? JSON.parse(known) : acceptedContent(inputResponses, 'where', place);
        const ask = (key: string, message: string, requestedSchema: typeof place | typeof sure) => ({
          [key]: inputRequired.elicit({ message, requestedSchema }),
        });
        if (!where) return inputRequired({ inputRequests: ask('where', 'Where?', place) });
        const isSure = acceptedContent(inputResponses, 'sure', sure);
        if (!isSure?.sure)
          return inputRequired({
            inputRequests: ask('sure', `Really ${where.city}?`, sure),
            requestState: JSON.stringify(where),
          });
        return text(`${who}: ${where.nights} nights in ${where.city}`);
      },
    );
    server.registerTool('erase', { inputSchema: empty }, async (_args, { mcpReq }) => {
      const sure = inputResponse(mcpReq.inputResponses, 'sure');
      if (sure.kind === 'elicit') return text(`The user said ${sure.action}`);
      const requestedSchema = { type: 'object' as const, properties: {} };
      return inputRequired({
        inputRequests: { sure: inputRequired.elicit({ message: 'Erase all?', requestedSchema }) },
      });
    });
    server.registerTool('busy', { inputSchema: empty }, async () => {
      note('busy');
      return inputRequired({ requestState: 'later' });
    });
    server.registerTool('sample', { inputSchema: empty }, async () =>
      inputRequired({
        inputRequests: {
          model: inputRequired.createMessage({
            messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
            maxTokens: 1,
          }),
        },
      }),
    );
    return server;
  };
  const handler = createMcpHandler(serve);
  const url = new URL(await listen(createServer(toNodeHandler(handler))));
  onTestFinished(() => handler.close());
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(url));
  onTestFinished(() => client.close());
  return { client, calls, aborted: aborted.promise };
}

/** An agent on a store, and a client of it. */
async function serve(agent: Agent, store = memoryStore(), extensions: string[] = []) {
  const card = { name: 'Agent', description: 'Calls tools' };
  const extended = extend({ card, agent }, formInput, taskProgress);
  const server = createAgentServer({ ...extended, store, restart: 'rerun', logger: () => {} });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { server, agent: await connect('http://localhost', { fetch: server.fetch, extensions }) };
}

const stateOf = async (agent: AgentClient, id: string) => (await agent.task(id).get()).status.state;

it('a call of a tool that finished is not repeated when its turn is run again', async () => {
  const { client, calls } = await tools();
  const stopped = Promise.withResolvers<void>();
  let attempts = 0;
  const work: Agent = async function* (turn) {
    const first = yield* callTool(turn, client, 'count');
    if (++attempts === 1) {
      stopped.resolve();
      await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
      return;
    }
    const second = yield* callTool(turn, client, 'count');
    yield completed(`${wordsOf(first)}, ${wordsOf(second)}`);
  };
  const store = memoryStore();
  const { server, agent } = await serve(work, store);
  const { task } = await agent.send('go', { returnImmediately: true });
  await stopped.promise;
  await server.close({ graceMs: 0 });
  const next = await serve(work, store);
  await eventually(async () => expect(await stateOf(next.agent, task!.id)).toBe('TASK_STATE_COMPLETED'));
  expect(textOf((await next.agent.task(task!.id).get()).status.message)).toBe('call 1, call 2');
  expect(calls).toEqual(['count', 'count']);
});

it('progress of a tool becomes updates of the task, and its cancellation cancels the call', async () => {
  const { client, aborted } = await tools();
  const { agent } = await serve(
    async function* (turn) {
      yield* callTool(turn, client, 'slow');
      yield completed();
    },
    undefined,
    [TASK_PROGRESS],
  );
  const stream = agent.stream('go');
  for await (const event of stream)
    if (textOf(event.statusUpdate?.status.message) === 'One of three') {
      expect(progressOf(event)).toEqual({ progress: 1, total: 3 });
      await agent.task(stream.task!).cancel();
    }
  await aborted;
  expect(stream.task?.status.state).toBe('TASK_STATE_CANCELED');
});

it('the error of a tool is thrown in the agent, once for the tool', async () => {
  const { client, calls } = await tools();
  const { agent } = await serve(async function* (turn) {
    try {
      yield* callTool(turn, client, 'fails');
    } catch (error) {
      if (!ToolError.is(error)) throw error;
      yield failed({ code: 'NO_CITY', message: `${error.tool}: ${error.message}` });
    }
  });
  const { task } = await agent.send('go');
  expect(textOf(task?.status.message)).toBe('fails: No such city');
  expect(calls).toEqual(['fails']);
});

const booking = (client: Client): Agent =>
  async function* (turn) {
    const result = yield* callTool(turn, client, 'book', { who: 'Ada' });
    yield completed(wordsOf(result));
  };

it('the questions of a server are those of the task, and are answered in later turns by another process', async () => {
  const { client, calls } = await tools();
  const store = memoryStore();
  const first = await serve(booking(client), store, [FORM_INPUT]);
  const { task: asking } = await first.agent.send('go');
  expect(formOf(asking!)?.schema).toMatchObject({ properties: { city: { type: 'string' } } });
  expect(textOf(asking!.status.message)).toBe('Where?');
  await first.server.close({ graceMs: 0 });

  const { agent } = await serve(booking(client), store, [FORM_INPUT]);
  const refused = await agent.send(answer(asking!, { city: 'R', nights: 2 }));
  expect(formOf(refused.task!)?.errors).toHaveProperty('city');
  const { task: doubting } = await agent.send(answer(refused.task!, { city: 'Rome', nights: 2 }));
  expect(textOf(doubting!.status.message)).toBe('Really Rome?');
  const { task } = await agent.send(answer(doubting!, { sure: true }));
  expect(textOf(task!.status.message)).toBe('Ada: 2 nights in Rome');
  expect(calls).toEqual(['book', 'book', 'book']);
});

it('a client without forms answers a server with data, and with text where there is one field', async () => {
  const { client, calls } = await tools();
  const { agent } = await serve(booking(client));
  const { task: asking } = await agent.send('go');
  const { task: again } = await agent.send('Rome', { task: asking! });
  expect(textOf(again!.status.message)).toBe('Where?');
  expect(calls).toEqual(['book']);
  const { task: doubting } = await agent.send({ data: { city: 'Rome', nights: 2 } }, { task: again! });
  const { task } = await agent.send('yes', { task: doubting! });
  expect(textOf(task!.status.message)).toBe('Ada: 2 nights in Rome');
});

it.each([
  ['yes', 'accept'],
  ['no', 'decline'],
  ['Yes, please', 'accept'],
  [{ data: { action: 'cancel' } }, 'cancel'],
])('a server that asks for a yes alone hears of %j as %s', async (said, action) => {
  const { client } = await tools();
  const { agent } = await serve(
    async function* (turn) {
      yield completed(wordsOf(yield* callTool(turn, client, 'erase')));
    },
    undefined,
    [FORM_INPUT],
  );
  const { task: asking } = await agent.send('go');
  expect(formOf(asking!)).toBeUndefined();
  expect(textOf(asking!.status.message)).toBe('Erase all?\nAnswer yes or no.');
  const { task: again } = await agent.send('Erase what?', { task: asking! });
  expect(textOf(again!.status.message)).toBe('Erase all?\nAnswer yes or no.');
  const { task } = await agent.send(said, { task: again! });
  expect(textOf(task!.status.message)).toBe(`The user said ${action}`);
});

it.each(['decline', 'cancel'])('a form is answered with data that says %s', async (action) => {
  const { client } = await tools();
  const { agent } = await serve(booking(client), undefined, [FORM_INPUT]);
  const { task: asking } = await agent.send('go');
  const { task } = await agent.send({ data: { action } }, { task: asking! });
  expect(textOf(task!.status.message)).toBe(action);
});

it('a server that asks for a model gets an error that names it', async () => {
  const { client } = await tools();
  const { agent } = await serve(async function* (turn) {
    const error = await callTool(turn, client, 'sample')
      .next()
      .catch((reason: unknown) => reason);
    yield completed((error as Error).message);
  });
  const { task } = await agent.send('go');
  expect(textOf(task!.status.message)).toBe(
    'The tool "sample" asks for sampling/createMessage, which a task cannot give',
  );
});

it('a server that puts a call off forever gets eleven calls', async () => {
  const { client, calls } = await tools();
  const { agent } = await serve(async function* (turn) {
    try {
      yield* callTool(turn, client, 'busy');
    } catch (error) {
      yield completed((error as Error).message);
    }
  });
  const { task } = await agent.send('go');
  expect(textOf(task!.status.message)).toBe('The tool "busy" put the call off 11 times without a question');
  expect(calls).toEqual(Array(11).fill('busy'));
});

it('tools are listed with their schemas, ready to be called', async () => {
  const { client } = await tools();
  const { agent } = await serve(async function* (turn) {
    const [count] = await mcpTools(turn, client);
    const results = [yield* count!.call(), yield* count!.call({}, { step: 'again' })];
    yield completed(`${count!.name}: ${count!.description}: ${results.map(wordsOf)}`);
  });
  expect(textOf((await agent.send('go')).task!.status.message)).toBe('count: Counts: call 1,call 2');
});

it('an answer stays with the arguments that it was given for', async () => {
  const { client } = await tools();
  const { agent } = await serve(async function* (turn) {
    const [who] = turn.text === 'Grace' ? ['Grace'] : ['Ada'];
    const result = yield* callTool(turn, client, 'book', { who });
    yield asking(wordsOf(result));
  });
  let { task } = await agent.send('Ada');
  task = (await agent.send({ data: { city: 'Rome', nights: 2 } }, { task: task! })).task;
  task = (await agent.send('yes', { task: task! })).task;
  expect(textOf(task!.status.message)).toBe('Ada: 2 nights in Rome');
  task = (await agent.send('Grace', { task: task! })).task;
  expect(textOf(task!.status.message)).toBe('Where?');
});
