import { type AgentClient, answer, connect, textOf } from '@batonjs/client';
import {
  extend,
  FORM_INPUT,
  formInput,
  inputRequired as formRequired,
  skill,
  taskError,
  typedSkills,
} from '@batonjs/extensions';
import { errorOf, formOf } from '@batonjs/extensions/client';
import {
  type Agent,
  type AgentServerOptions,
  artifact,
  completed,
  createAgentServer,
  data,
  failed,
  type Turn,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { passableClock } from '../../../../test/kit/passable-clock.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type McpHandlerOptions, mcpHandler } from '../../src/index.ts';
import { callTool, cancelToolTasks, ToolError, type ToolResult } from '../../src/tools.ts';

const empty = z.object({});
const wordsOf = ({ content: [first] }: ToolResult) => (first?.type === 'text' ? first.text : '');

/** A far MCP server with tools that answer with handles, and a client of it that declares the extension. */
async function far(options: McpHandlerOptions = {}) {
  const runs: string[] = [];
  const gate = Promise.withResolvers<void>();
  const canceled = Promise.withResolvers<void>();
  const note = (name: string, { signal, attempt }: Turn) => {
    if (attempt === 1) runs.push(name);
    signal.addEventListener('abort', () => canceled.resolve());
  };
  const make = () => {
    const slow = skill({
      id: 'slow',
      name: 'Slow',
      description: 'Works',
      input: empty,
      output: z.object({ n: z.int() }),
      async *run(turn) {
        note('slow', turn);
        yield working('Half way');
        await Promise.race([
          gate.promise,
          new Promise((resolve) => turn.signal.addEventListener('abort', resolve)),
        ]);
        yield artifact('result', data({ n: 7 }));
        yield completed('Done');
      },
    });
    const book = skill({
      id: 'book',
      name: 'Book',
      description: 'Asks twice',
      input: empty,
      async *run(turn) {
        note('book', turn);
        const { city, nights } = turn.values;
        if (typeof city !== 'string')
          return yield formRequired('Which city?', { form: z.object({ city: z.string().min(2) }) });
        if (typeof nights !== 'number')
          return yield formRequired('How long?', { form: z.object({ nights: z.int() }) });
        yield completed(`${nights} nights in ${city}`);
      },
    });
    const broken = skill({
      id: 'broken',
      name: 'Broken',
      description: 'Fails',
      input: empty,
      async *run(turn) {
        note('broken', turn);
        yield working();
        yield failed({ code: 'NO_ROOM', message: 'Full' });
      },
    });
    const card = { name: 'Far', description: 'Has long tools', version: '1.0.0' };
    const server = createAgentServer({
      ...extend(typedSkills(card, slow, book, broken), formInput, taskError),
      store: memoryStore(),
      logger: () => {},
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    return server;
  };
  let server = make();
  let isDown = false;
  let failures = 0;
  const requests: string[] = [];
  const agent = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const handler = mcpHandler(agent, { tasks: { pollIntervalMs: 20 }, ...options });
  onTestFinished(() => handler.close());
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  const transport = new StreamableHTTPClientTransport(new URL('http://far.example/mcp'), {
    fetch: async (url, init) => {
      if (isDown) {
        failures += 1;
        throw new TypeError('fetch failed');
      }
      const request = new Request(url, init);
      requests.push(request.headers.get('mcp-method') ?? '');
      return handler.fetch(request);
    },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    runs,
    requests,
    agent,
    gate: gate.resolve,
    canceled: canceled.promise,
    failures: () => failures,
    forget: () => {
      server = make();
    },
    setDown: (down: boolean) => {
      isDown = down;
    },
  };
}

/** An agent that calls tools, and a client of it. */
async function near(agent: Agent, options: Partial<AgentServerOptions> = {}) {
  const card = { name: 'Near', description: 'Calls tools' };
  const server = createAgentServer({
    ...extend({ card, agent }, formInput, taskError),
    store: memoryStore(),
    restart: 'rerun',
    logger: () => {},
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return {
    server,
    agent: await connect('http://localhost', { fetch: server.fetch, extensions: [FORM_INPUT] }),
  };
}

const start = async (agent: AgentClient) =>
  (await agent.send('Go', { returnImmediately: true })).task?.id ?? '';

const calling = (client: Client, tool = 'slow'): Agent =>
  async function* (turn) {
    const result = yield* callTool(turn, client, tool);
    yield completed(wordsOf(result));
  };

const state = async (agent: AgentClient, id: string) => (await agent.task(id).get()).status.state;
const saidBy = async (agent: AgentClient, id: string) => textOf((await agent.task(id).get()).status.message);

describe('a tool that answers with a handle', () => {
  it('[R-MT-14] is waited for, with what its task says as updates, and gives the result of the tool', async () => {
    const { client, runs, gate, requests } = await far();
    const { agent } = await near(async function* (turn) {
      const { structuredContent } = yield* callTool(turn, client, 'slow');
      yield completed(JSON.stringify(structuredContent));
    });
    // The output schema is known, and the handle has no output.
    await client.listTools();
    const id = await start(agent);
    await eventually(async () => expect(await saidBy(agent, id)).toBe('Half way'));
    gate();
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_COMPLETED'));
    expect(await saidBy(agent, id)).toBe('{"n":7}');
    expect(runs).toEqual(['slow']);
    expect(requests.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('is called once: another process goes on with the handle', async () => {
    const { client, runs, gate, requests } = await far();
    const store = memoryStore();
    const first = await near(calling(client), { store });
    const id = await start(first.agent);
    await eventually(() => expect(requests).toContain('tasks/get'));
    await first.server.close({ graceMs: 0 });
    const { agent } = await near(calling(client), { store });
    gate();
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_COMPLETED'));
    expect([runs, requests.filter((method) => method === 'tools/call').length]).toEqual([['slow'], 1]);
  });

  it('[R-MT-38] gives its process back while the server advises to ask rarely', async () => {
    const { client, gate, requests, agent: behind } = await far({ tasks: { pollIntervalMs: 20_000 } });
    const { clock, pass } = passableClock();
    const reasons: unknown[] = [];
    const { agent, server } = await near(
      async function* (turn) {
        try {
          yield* callTool(turn, client, 'slow');
          yield completed(`attempt ${turn.attempt}`);
        } finally {
          if (turn.signal.aborted) reasons.push(turn.signal.reason.code);
        }
      },
      { clock, store: memoryStore({ now: clock.now }) },
    );
    const id = await start(agent);
    await eventually(() => expect(reasons).toEqual(['PAUSED']));
    expect(await state(agent, id)).toBe('TASK_STATE_WORKING');
    expect(requests).not.toContain('tasks/get');
    gate();
    // The next attempt reads the task of the tool once: it has to be over by then.
    await eventually(async () => {
      const { tasks } = await behind.listTasks({});
      expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED']);
    });
    await eventually(() => expect(server.load.turns).toBe(0));
    pass(20_000);
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_COMPLETED'));
    expect(await saidBy(agent, id)).toBe('attempt 2');
    expect(requests.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('[R-MT-36] asks: the questions are those of the task with their forms, the answers go back, and clients do not see the handle', async () => {
    const { client, runs, requests, agent: behind } = await far();
    const store = memoryStore();
    const first = await near(calling(client, 'book'), { store });
    const { task: asking } = await first.agent.send('Go');
    expect([textOf(asking?.status.message), Object.keys(Object(formOf(asking!)?.schema.properties))]).toEqual(
      ['Which city?', ['city']],
    );
    await first.server.close({ graceMs: 0 });
    const { agent } = await near(calling(client, 'book'), { store });
    const { task: again } = await agent.send(answer(asking!, { city: 'Rome' }));
    expect(textOf(again?.status.message)).toBe('How long?');
    const { task: done } = await agent.send(answer(again!, { nights: 3 }));
    expect([done?.status.state, textOf(done?.status.message)]).toEqual([
      'TASK_STATE_COMPLETED',
      '3 nights in Rome',
    ]);
    expect([runs, requests.filter((method) => method === 'tools/call').length]).toEqual([
      ['book', 'book', 'book'],
      1,
    ]);
    // The id of a task may be all that its server asks for.
    const [{ id } = { id: '' }] = (await behind.listTasks({})).tasks;
    const seen = JSON.stringify(await agent.getTask({ id: done!.id, historyLength: 100 }));
    expect([id.length > 10, seen.includes(id)]).toEqual([true, false]);
  });

  it('[R-MT-37] is canceled with the task, whether it runs or asks', async () => {
    const { client, agent: behind, canceled } = await far();
    const onCancel = (turn: Turn) => cancelToolTasks(turn, client);
    const running = await near(calling(client));
    const id = await start(running.agent);
    await eventually(async () => expect(await saidBy(running.agent, id)).toBe('Half way'));
    await running.agent.task(id).cancel();
    await canceled;
    const asking = await near(calling(client, 'book'), { onCancel });
    const { task } = await asking.agent.send('Go');
    await asking.agent.task(task!.id).cancel();
    await eventually(async () => {
      const { tasks } = await behind.listTasks({});
      expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
    });
  });

  it('is asked of its own server alone', async () => {
    const [one, other] = [await far(), await far()];
    const named = Object.assign(Object.create(other.client), { getServerVersion: () => ({ name: 'Other' }) });
    const onCancel = (turn: Turn) => cancelToolTasks(turn, named, one.client);
    const { agent } = await near(calling(one.client, 'book'), { onCancel });
    const { task } = await agent.send('Go');
    await agent.task(task!.id).cancel();
    expect(one.requests).toContain('tasks/cancel');
    expect(other.requests).not.toContain('tasks/cancel');
  });

  it('fails as the tool does: a ToolError with its result', async () => {
    const { client } = await far();
    const { agent } = await near(async function* (turn) {
      try {
        yield* callTool(turn, client, 'broken');
      } catch (error) {
        if (!ToolError.is(error)) throw error;
        yield failed({ code: 'NO_CITY', message: error.message });
      }
    });
    const { task } = await agent.send('Go');
    expect(textOf(task?.status.message)).toBe('The task failed (NO_ROOM): Full');
  });

  it('whose server forgot it fails the task with a code and a sentence', async () => {
    const { client, forget, requests } = await far();
    const { agent } = await near(calling(client));
    const id = await start(agent);
    await eventually(() => expect(requests).toContain('tasks/get'));
    forget();
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_FAILED'));
    const task = await agent.task(id).get();
    expect(errorOf(task)?.code).toBe('TASK_NOT_FOUND');
    expect(textOf(task.status.message)).toMatch(
      /^The MCP server of the tool "slow" has no task \S+ any more$/,
    );
  });

  it('whose server is out of reach for a while goes on', async () => {
    const { client, setDown, gate, requests, failures } = await far();
    const { agent } = await near(calling(client));
    const id = await start(agent);
    await eventually(() => expect(requests).toContain('tasks/get'));
    setDown(true);
    await eventually(() => expect(failures()).toBeGreaterThan(2));
    setDown(false);
    gate();
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_COMPLETED'));
    expect(requests.filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('whose server is out of reach for too long fails the task as UNAVAILABLE', async () => {
    const { client, setDown, requests } = await far();
    const { agent } = await near(async function* (turn) {
      yield* callTool(turn, client, 'slow', {}, { unreachableMs: 100 });
      yield completed();
    });
    const id = await start(agent);
    await eventually(() => expect(requests).toContain('tasks/get'));
    setDown(true);
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_FAILED'));
    const task = await agent.task(id).get();
    expect([errorOf(task)?.code, textOf(task.status.message)]).toEqual([
      'UNAVAILABLE',
      'The MCP server of the tool "slow" was out of reach for 0.1 s',
    ]);
  });

  it('needs the extension among the capabilities of the client: without it the call waits', async () => {
    const { agent: behind, gate, requests, client } = await far();
    const plain = new Client(
      { name: 'plain', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    const handler = mcpHandler(behind);
    onTestFinished(() => handler.close());
    await plain.connect(
      new StreamableHTTPClientTransport(new URL('http://far.example/mcp'), {
        fetch: (url, init) => handler.fetch(new Request(url, init)),
      }),
    );
    onTestFinished(() => plain.close());
    const { agent } = await near(calling(plain));
    const id = await start(agent);
    gate();
    await eventually(async () => expect(await state(agent, id)).toBe('TASK_STATE_COMPLETED'));
    expect(requests).not.toContain('tasks/get');
    expect(client.getServerVersion()?.name).toBe('Far');
  });
});
