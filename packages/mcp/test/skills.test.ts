import { type AgentClient, connect } from '@batonjs/client';
import { createAgentServer, reply } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../../test/kit/until.ts';
import { TASK_META, toMcp } from '../src/index.ts';
import {
  closedGate,
  mcpClient,
  serveAgent,
  serveMcp,
  serveSkills,
  textOf,
  type Version,
  versions,
} from './clients.ts';
import { skillsAgent } from './skills-agent.ts';

const taskOf = (result: { _meta?: Record<string, unknown> }) => result._meta?.[TASK_META] as { id: string };

describe.each(versions)('the tools of an agent, for a client of MCP %s', (version: Version) => {
  it('are its skills with their schemas, and one that continues a task', async () => {
    const { url } = await serveSkills();
    const { tools } = await (await mcpClient(url, version, [])).listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      'continue_task math_divide book nest name files slow sign broken'.split(' '),
    );
    expect(tools[1]).toMatchObject({
      title: 'Divide',
      description: 'Divides one number by another',
      inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
      outputSchema: { properties: { quotient: { type: 'number' } } },
    });
  });

  it('have no output schema for a client that gets questions as results', async () => {
    const { url } = await serveSkills();
    const { tools } = await (await mcpClient(url, version)).listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema)).toEqual([]);
  });

  it('give structured output, and the task in _meta', async () => {
    const { url, agent } = await serveSkills();
    const client = await mcpClient(url, version, []);
    await client.listTools();
    const result = await client.callTool({ name: 'math_divide', arguments: { a: 6, b: 3 } });
    expect(result).toMatchObject({ structuredContent: { quotient: 2 } });
    expect(textOf(result)).toBe('{"quotient":2}');
    expect((await agent.task(taskOf(result).id).get()).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('give text, data, images, audio, files and links as content of their kind', async () => {
    const { url } = await serveSkills();
    const { content } = await (await mcpClient(url, version)).callTool({ name: 'files' });
    const data = Buffer.from('bytes').toString('base64');
    expect(content).toMatchObject([
      { type: 'text', text: 'Done' },
      { type: 'text', text: 'words' },
      { type: 'text', text: '[1,2]' },
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data, mimeType: 'audio/wav' },
      { type: 'resource', resource: { blob: data, mimeType: 'application/pdf' } },
      { type: 'resource_link', uri: 'https://example.com/b.csv', name: 'b.csv', mimeType: 'text/csv' },
    ]);
  });

  it('tell of progress with numbers that grow, to a client that asked for it', async () => {
    const gate = closedGate();
    gate.release();
    const { url } = await serveSkills(gate);
    const client = await mcpClient(url, version);
    const seen: { progress: number; total?: number; message?: string }[] = [];
    const result = await client.callTool({ name: 'slow' }, { onprogress: (each) => seen.push(each) });
    expect(textOf(result)).toBe('one two');
    const messages = ['Reading', 'Thinking', 'one ', 'Writing', 'two'];
    await eventually(() => expect(seen.flatMap(({ message }) => message ?? [])).toEqual(messages));
    expect(seen[0]).toMatchObject({ progress: 1, total: 4 });
    expect(seen.map(({ progress }) => progress)).toEqual(
      [...new Set(seen.map(({ progress }) => progress))].sort((a, b) => a - b),
    );
  });

  it('cancel the task of a call that the client cancels', async () => {
    const canceled = Promise.withResolvers<void>();
    const gate = { ...closedGate(), onCancel: canceled.resolve };
    const { url, agent } = await serveSkills(gate);
    const client = await mcpClient(url, version);
    const stop = new AbortController();
    const onprogress = ({ message }: { message?: string }) => message === 'Thinking' && stop.abort();
    await expect(client.callTool({ name: 'slow' }, { signal: stop.signal, onprogress })).rejects.toThrow();
    await canceled.promise;
    await eventually(async () => expect(await states(agent)).toEqual(['TASK_STATE_CANCELED']));
  });

  it('leave the task running when the MCP server closes', async () => {
    const gate = closedGate();
    const { url, agent, handler } = await serveSkills(gate);
    const client = await mcpClient(url, version);
    const isThinking = Promise.withResolvers<void>();
    const onprogress = ({ message }: { message?: string }) => message === 'Thinking' && isThinking.resolve();
    const call = client.callTool({ name: 'slow' }, { onprogress }).catch(() => {});
    await isThinking.promise;
    await handler.close();
    gate.release();
    await eventually(async () => expect(await states(agent)).toEqual(['TASK_STATE_COMPLETED']));
    await client.close();
    await call;
  });

  it('ask the user with the form of the agent', async () => {
    const { url } = await serveSkills();
    const client = await mcpClient(url, version, [{ city: 'Paris', nights: 2 }]);
    const result = await client.callTool({ name: 'book' });
    expect(textOf(result)).toBe('2 nights in Paris');
    expect(client.asked).toMatchObject([
      {
        message: 'Where and how long?',
        requestedSchema: {
          properties: {
            city: { type: 'string', minLength: 2, default: 'Rome' },
            nights: { type: 'integer', minimum: 1, maximum: 30 },
          },
          required: ['city', 'nights'],
        },
      },
    ]);
  });

  it('ask again as often as the agent does, with a field of text where it has no form', async () => {
    const { url } = await serveSkills();
    const client = await mcpClient(url, version, [{ answer: 'Ada' }, { answer: 'Lovelace' }]);
    expect(textOf(await client.callTool({ name: 'name' }))).toBe('Ada Lovelace');
    expect(client.asked.map(({ message }) => message)).toEqual(['Your first name?', 'Your last name?']);
    expect(client.asked[0]).toMatchObject({
      requestedSchema: { properties: { answer: { type: 'string' } } },
    });
  });

  it('ask with text for a form that elicitation cannot show', async () => {
    const { url } = await serveSkills();
    const client = await mcpClient(url, version, [{ answer: 'Rome' }]);
    expect(textOf(await client.callTool({ name: 'nest' }))).toBe('You said Rome');
    expect(client.asked).toMatchObject([{ requestedSchema: { required: ['answer'] } }]);
  });

  it('cancel the task when the user declines its question', async () => {
    const { url, agent } = await serveSkills();
    const result = await (await mcpClient(url, version, [false])).callTool({ name: 'book' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe('The question was declined, so the task was canceled.');
    expect((await agent.task(taskOf(result).id).get()).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('leave the task waiting when the user closes its question, for continue_task', async () => {
    const { url } = await serveSkills();
    const client = await mcpClient(url, version, [undefined]);
    const { id } = taskOf(await client.callTool({ name: 'book' }));
    const values = { city: 'Oslo', nights: 1 };
    const result = await client.callTool({ name: 'continue_task', arguments: { taskId: id, values } });
    expect(textOf(result)).toBe('1 nights in Oslo');
  });

  it('give the question as a result to a client that cannot ask, and take the answer as a call', async () => {
    const { url } = await serveSkills();
    const client = await mcpClient(url, version);
    const first = await client.callTool({ name: 'name' });
    const { id: taskId } = taskOf(first);
    expect(first.isError).toBeUndefined();
    expect(textOf(first)).toBe(
      `Your first name?\n\nThe agent waits for an answer: call the tool continue_task with the taskId "${taskId}" ` +
        'and the user\'s "answer".',
    );
    const next = (answer: string) =>
      client.callTool({ name: 'continue_task', arguments: { taskId, answer } });
    expect(textOf(await next('Ada'))).toMatch(/^Your last name\?/);
    expect(textOf(await next('Lovelace'))).toBe('Ada Lovelace');
    expect(textOf(await client.callTool({ name: 'continue_task', arguments: { taskId } }))).toBe(
      'Ada Lovelace',
    );
  });

  it('report the cancellation that a call asked for as no error', async () => {
    const { url, agent } = await serveSkills();
    const client = await mcpClient(url, version);
    const { id: taskId } = taskOf(await client.callTool({ name: 'name' }));
    const result = await client.callTool({ name: 'continue_task', arguments: { taskId, cancel: true } });
    expect(textOf(result)).toBe('The task was canceled');
    expect(result.isError).toBeUndefined();
    expect(await states(agent)).toEqual(['TASK_STATE_CANCELED']);
  });

  it('report that an authorization is needed', async () => {
    const { url } = await serveSkills();
    const result = await (await mcpClient(url, version, [])).callTool({ name: 'sign' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(
      /^The agent needs an authorization .*: Open https:\/\/example\.com\/sign\n/,
    );
  });

  it('report a failure with its code, and nothing of the inside of an agent', async () => {
    const { url } = await serveSkills();
    const client = await mcpClient(url, version);
    const failed = await client.callTool({ name: 'math_divide', arguments: { a: 1, b: 0 } });
    expect(failed).toMatchObject({ isError: true });
    expect(textOf(failed)).toBe('The task failed (DIVISION_BY_ZERO): Nothing divides by zero');
    const broken = await client.callTool({ name: 'broken' });
    expect(broken.isError).toBe(true);
    expect(JSON.stringify(broken)).not.toContain('secret');
  });

  it('return before a task ends where they are told to, and wait for it in continue_task', async () => {
    const gate = closedGate();
    const { url } = await serveSkills(gate, { waitMs: 1 });
    const client = await mcpClient(url, version);
    const started = await client.callTool({ name: 'slow' });
    expect(textOf(started)).toMatch(/^The task is still running/);
    gate.release();
    const { id: taskId } = taskOf(started);
    await eventually(async () =>
      expect(textOf(await client.callTool({ name: 'continue_task', arguments: { taskId } }))).toBe('one two'),
    );
    await client.callTool({ name: 'continue_task', arguments: { taskId } });
  });

  it.each([
    ['an unknown tool', { name: 'unknown' }, /Unknown tool: unknown/],
    ['a missing argument', { name: 'math_divide', arguments: { a: 1 } }, /does not fit the skill[\s\S]*b:/],
    ['an argument of the wrong type', { name: 'math_divide', arguments: { a: 1, b: 'x' } }, /b:/],
    ['a task without an id', { name: 'continue_task' }, /taskId/],
    ['a task that is none', { name: 'continue_task', arguments: { taskId: 'none' } }, /TASK_NOT_FOUND/],
    [
      'an answer and a cancellation',
      { name: 'continue_task', arguments: { taskId: 'x', answer: 'y', cancel: true } },
      /At most one of answer, values and cancel/,
    ],
    [
      'an argument that the tool does not have',
      { name: 'continue_task', arguments: { taskId: 'x', y: 1 } },
      /"y"/,
    ],
  ])('refuse %s', async (_what, params, message) => {
    const { url, agent } = await serveSkills();
    const client = await mcpClient(url, version);
    const said = await client.callTool(params).then(
      (result) => (result.isError ? textOf(result) : 'accepted'),
      (error: Error) => error.message,
    );
    expect(said).toMatch(message);
    expect(await states(agent)).toEqual([]);
  });

  it('take a message where a skill has no schema, also for an agent without skills', async () => {
    const served = await serveAgent({
      card: { name: 'Plain agent!', description: 'Repeats' },
      agent: ({ text }) => reply(`You said ${text}`),
    });
    const { url } = await serveMcp(served.agent);
    const client = await mcpClient(url, version);
    const name = 'Plain_agent_';
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['continue_task', name]);
    expect(textOf(await client.callTool({ name, arguments: { message: 'hello' } }))).toBe('You said hello');
    const wrong = await client.callTool({ name, arguments: { text: 'hello' } });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toMatch(/message/);
  });

  it('say that an agent cannot be reached, and not where it is', async () => {
    const server = createAgentServer({
      ...skillsAgent(closedGate()),
      store: memoryStore(),
      logger: () => {},
    });
    const { url: address, close } = await listen(server, { port: 0 });
    const agent = await connect(address, { followForMs: 0 });
    const { url, errors } = await serveMcp(agent);
    const client = await mcpClient(url, version);
    await close({ graceMs: 0 });
    const result = await client.callTool({ name: 'files' });
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toBe('The agent cannot be called (NETWORK)');
    expect(errors).toContainEqual(expect.objectContaining({ code: 'NETWORK' }));
  });
});

it('the least recently used session of an older client makes room for another', async () => {
  const { url } = await serveSkills(closedGate(), { sessions: 2 });
  const [first, second] = [await mcpClient(url, '2025-11-25'), await mcpClient(url, '2025-11-25')];
  await first.listTools();
  const third = await mcpClient(url, '2025-11-25');
  await expect(second.listTools()).rejects.toThrow(/Session not found/);
  for (const client of [first, third]) expect((await client.listTools()).tools).not.toEqual([]);
});

describe('a question of protocol 2026-07-28', () => {
  it('is answered once when its answer is sent twice, also by another server', async () => {
    const { url, agent } = await serveSkills();
    const client = await mcpClient(url, '2026-07-28', []);
    const asked = (await client.callTool({ name: 'book' }, { allowInputRequired: true })) as unknown as {
      requestState: string;
    };
    const answered = {
      name: 'book',
      requestState: asked.requestState,
      inputResponses: { answer: { action: 'accept', content: { city: 'Bern', nights: 3 } } },
    };
    const other = await mcpClient((await serveMcp(agent)).url, '2026-07-28', []);
    const results = [await other.callTool(answered), await client.callTool(answered)];
    expect(results.map(textOf)).toEqual(['3 nights in Bern', '3 nights in Bern']);
    const { history = [] } = await agent.task(taskOf(results[0]!).id).get();
    expect(history.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(2);
  });

  it('is not answered by a call that names another task', async () => {
    const { url, agent } = await serveSkills();
    const client = await mcpClient(url, '2026-07-28', []);
    const ask = async () => {
      const asked = await client.callTool({ name: 'book' }, { allowInputRequired: true });
      const { requestState } = asked as unknown as { requestState: string };
      return { requestState, taskId: JSON.parse(requestState).taskId };
    };
    const [one, other] = [await ask(), await ask()];
    const result = await client.callTool({
      name: 'continue_task',
      arguments: { taskId: other.taskId },
      requestState: one.requestState,
      inputResponses: { answer: { action: 'accept', content: { city: 'Bern', nights: 3 } } },
    } as never);
    expect(textOf(result)).toMatch(/INVALID_PARAMS.*The state of the request is that of another task/);
    expect(await states(agent)).toEqual(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_INPUT_REQUIRED']);
  });

  it.each(['', 'x', '{}', '{"taskId":1,"asked":""}', 'null'])(
    'refuses the state %j',
    async (requestState) => {
      const { url, agent } = await serveSkills();
      const client = await mcpClient(url, '2026-07-28', []);
      const result = await client.callTool({ name: 'book', requestState } as never);
      expect(textOf(result)).toMatch(/INVALID_PARAMS.*The state of the request is none of this server/);
      expect(await states(agent)).toEqual([]);
    },
  );
});

it.each([-1, 2 ** 31, Number.NaN])('a wait of %s milliseconds is refused', async (waitMs) => {
  const { agent } = await serveAgent({ card: { name: 'A', description: 'B' }, agent: () => reply('C') });
  expect(() => toMcp(agent, { waitMs })).toThrow(RangeError);
});

const states = async (agent: AgentClient) =>
  (await agent.listTasks({})).tasks.map(({ status }) => status.state);
