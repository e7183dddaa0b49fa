import { connect, textOf } from '@batonjs/client';
import { extend, formInput } from '@batonjs/extensions';
import {
  type Agent,
  authRequired,
  completed,
  completedBeforeCancel,
  createAgentServer,
  failed,
  inputRequired,
  rejected,
  reply,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declared, rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { mcpHandler } from '../../src/index.ts';
import { closedGate, serveAgent, serveMcp, serveSkills } from '../clients.ts';

const extension = 'io.modelcontextprotocol/tasks';
const card = { name: 'Test', description: 'For tests', version: '1.0.0' };

/**
 * An agent with one tool, `Test`, behind MCP. `start` calls it, and gets a handle: the agent waits for that, because a task
 * that asks or ends before is no handle.
 */
async function serve(agent: Agent, options: Parameters<typeof serveMcp>[1] = {}) {
  let handed: ReturnType<typeof closedGate> | undefined;
  const waiting: Agent = async (turn) => {
    await handed?.open;
    return agent(turn);
  };
  const served = await serveAgent({ card, agent: waiting });
  const { url, errors } = await serveMcp(served.agent, options);
  const client = rawClient(url);
  const start = async () => {
    handed = closedGate();
    const { result } = await client.tool('Test', { message: 'Go' });
    handed.release();
    return result;
  };
  return { ...served, url, errors, client, start };
}

/** Reads a task until it has a status. */
async function until(client: ReturnType<typeof rawClient>, taskId: string, status: string) {
  await expect.poll(async () => (await client.get(taskId)).result.status).toBe(status);
  return (await client.get(taskId)).result;
}

const working1 = (gate: Promise<void>): Agent =>
  async function* () {
    yield working('On it');
    await gate;
    yield completed('Done');
  };

describe('the core around tasks', () => {
  it('[R-MT-01] a request without version or capabilities in its _meta is refused with -32602, and results name the server', async () => {
    const { url } = await serveSkills();
    const client = rawClient(url);
    const bare = await client.call('tools/list', {
      _meta: { 'io.modelcontextprotocol/clientCapabilities': undefined },
    });
    expect(bare.error.code).toBe(-32602);
    const { result } = await client.call('tools/list');
    expect(result._meta['io.modelcontextprotocol/serverInfo']).toEqual({ name: 'Skills', version: '1.2.3' });
  });

  it('[R-MT-02, R-MT-04, R-MT-10] server/discover has versions, freshness, and the extension without settings, and no capabilities.tasks', async () => {
    const { url } = await serveSkills();
    const { result } = await rawClient(url).call('server/discover');
    expect(result).toMatchObject({
      supportedVersions: expect.arrayContaining(['2026-07-28']),
      resultType: 'complete',
    });
    expect(result.capabilities.extensions).toEqual({ [extension]: {} });
    expect(result.capabilities.tasks).toBeUndefined();
    for (const fresh of [result, (await rawClient(url).call('tools/list')).result]) {
      expect(Number.isInteger(fresh.ttlMs) && fresh.ttlMs >= 0).toBe(true);
      expect(['public', 'private']).toContain(fresh.cacheScope);
    }
  });

  it('[R-MT-03, R-MT-20, R-MT-70] every result has a resultType, and a handle is flat: task, without wrapper and without requestState', async () => {
    const gate = closedGate();
    const { url } = await serveSkills(gate);
    const client = rawClient(url);
    expect((await client.tool('files', {}, { capabilities: {} })).result.resultType).toBe('complete');
    expect((await client.tool('name', {}, { capabilities: declared.forms })).result.resultType).toBe(
      'input_required',
    );
    const { result } = await client.tool('slow');
    expect(result).toEqual({
      resultType: 'task',
      // Added by the SDK's type of a tool's result.
      content: [],
      taskId: expect.stringMatching(/^[\da-f-]{36}$/),
      status: 'working',
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttlMs: null,
      pollIntervalMs: 1_000,
      _meta: expect.any(Object),
    });
    for (const { result: each } of [
      await client.get(result.taskId),
      await client.update(result.taskId, {}),
      await client.cancel(result.taskId),
    ])
      expect(each.resultType).toBe('complete');
  });

  it.each([
    ['get', {}],
    ['update', { inputResponses: {} }],
    ['cancel', {}],
  ] as const)(
    '[R-MT-05, R-MT-06] tasks/%s needs Mcp-Name with the id of its task: else 400 and -32020',
    async (method, params) => {
      const { url } = await serveSkills();
      const client = rawClient(url);
      const { taskId } = (await client.tool('slow')).result;
      const headerSets: readonly Readonly<Record<string, string>>[] = [
        { 'mcp-name': '' },
        { 'mcp-name': 'other' },
        { 'mcp-method': '' },
        { 'mcp-method': 'tasks/list' },
        { 'mcp-protocol-version': '2025-11-25' },
      ];
      for (const headers of headerSets) {
        const { status, error } = await client.call(`tasks/${method}`, { taskId, ...params }, { headers });
        expect([status, error.code]).toEqual([400, -32020]);
      }
      const encoded = `=?base64?${btoa(taskId)}?=`;
      const taken = await client.call(
        `tasks/${method}`,
        { taskId, ...params },
        { headers: { 'mcp-name': encoded } },
      );
      expect([taken.status, taken.error]).toEqual([200, undefined]);
    },
  );

  it('[R-MT-06] a version that is none is answered 400 with -32022, and an unknown method 404 with -32601', async () => {
    const { url } = await serveSkills();
    const client = rawClient(url);
    const version = await client.call(
      'tools/list',
      { _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } },
      { headers: { 'mcp-protocol-version': '2099-01-01' } },
    );
    expect([version.status, version.error.code]).toEqual([400, -32022]);
    const unknown = await client.call('tasks/none', { taskId: 'x' });
    expect([unknown.status, unknown.error.code]).toEqual([404, -32601]);
  });

  it('[R-MT-07] a client that leaves before it has the handle cancels its call, and so the task', async () => {
    const { server, agent, url } = await serve(working1(new Promise(() => {})));
    const stop = new AbortController();
    const sent = Promise.withResolvers<void>();
    const holding = await connect('http://localhost', {
      async fetch(request) {
        const response = await server.fetch(request);
        if (request.method === 'POST' && !stop.signal.aborted) {
          sent.resolve();
          await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
        }
        return response;
      },
    });
    const handler = mcpHandler(holding);
    onTestFinished(() => handler.close());
    const client = rawClient(url, (request) => handler.fetch(request));
    client.tool('Test', { message: 'Go' }, { signal: stop.signal }).catch(() => undefined);
    await sent.promise;
    stop.abort();
    await expect
      .poll(async () => (await agent.listTasks({})).tasks.map(({ status }) => status.state))
      .toEqual(['TASK_STATE_CANCELED']);
  });

  it('[R-MT-08] a task asks by elicitation alone', async () => {
    const { client, start } = await serve(async function* () {
      yield inputRequired('Who?');
    });
    const { inputRequests } = await until(client, (await start()).taskId, 'input_required');
    expect(Object.values(inputRequests)).toMatchObject([{ method: 'elicitation/create' }]);
  });
});

describe('what is agreed on', () => {
  it('[R-MT-10, R-MT-12] the extension counts for the request that declares it, and for no other', async () => {
    const gate = closedGate();
    const { client, start } = await serve(working1(gate.open));
    expect((await start()).resultType).toBe('task');
    const waiting = client.tool('Test', { message: 'Go' }, { capabilities: declared.forms });
    await expect.poll(async () => (await start()).resultType).toBe('task');
    gate.release();
    expect((await waiting).result).toMatchObject({ resultType: 'complete', content: [{ text: 'Done' }] });
  });

  it('[R-MT-11] a task parameter of 2025-11-25 neither asks for a task nor is refused', async () => {
    const { client } = await serve(() => reply('Hi'));
    const params = { name: 'Test', arguments: { message: 'Go' }, task: { ttl: 1 } };
    for (const capabilities of [{}, declared.tasks]) {
      const { result } = await client.call('tools/call', params, { capabilities });
      expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'Hi' }] });
    }
  });

  it('[R-MT-12, R-MT-13, R-MT-71, R-MT-72] a tool that needs a handle, every request for a task, and a subscription are refused with 400 and -32021 without the extension', async () => {
    const gate = closedGate();
    const { url } = await serveSkills(gate, { tasks: { tools: { slow: 'required' } } });
    const client = rawClient(url);
    const { taskId } = (await client.tool('slow')).result;
    const without = { capabilities: declared.forms };
    const listening = await client.listen([taskId], without);
    const { value: answer } = await listening.messages.next();
    const answers = [
      await client.tool('slow', {}, without),
      await client.get(taskId, without),
      await client.update(taskId, {}, without),
      await client.cancel(taskId, without),
      // Whether such a task exists is not said either.
      await client.get('none', without),
      { status: listening.status, error: answer.error },
    ];
    for (const { status, error } of answers)
      expect([status, error.code, error.data]).toEqual([
        400,
        -32021,
        { requiredCapabilities: { extensions: { [extension]: {} } } },
      ]);
  });

  it('[R-MT-14] only tools/call becomes a task, and any call may be a result at once', async () => {
    const { url } = await serveSkills();
    const client = rawClient(url);
    expect((await client.call('tools/list')).result.resultType).toBe('complete');
    const divided = await client.tool('math_divide', { a: 6, b: 2 });
    const whole =
      divided.result.resultType === 'task'
        ? (await until(client, divided.result.taskId, 'completed')).result
        : divided.result;
    expect(whole.structuredContent).toEqual({ quotient: 3 });
  });
});

describe('the shapes', () => {
  it('[R-MT-21, R-MT-31, R-MT-54] tasks/get has what the call would have returned: also for a tool that failed', async () => {
    const { url } = await serveSkills();
    const client = rawClient(url);
    const without = { capabilities: {} };
    for (const [tool, args] of [
      ['files', {}],
      ['broken', {}],
      ['math_divide', { a: 1, b: 0 }],
    ] as const) {
      const { _meta: _, ...direct } = (await client.tool(tool, args, without)).result;
      const { result: created } = await client.tool(tool, args);
      if (created.resultType !== 'task') continue;
      const { result, status } = await until(client, created.taskId, 'completed');
      const { _meta, ...inlined } = result;
      // The names of embedded resources have the id of the task.
      const same = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(/a2a:[^"]+/g, 'a2a:id'));
      expect([status, same(inlined)]).toEqual(['completed', same(direct)]);
      expect(Object.keys(_meta)).not.toContain('io.modelcontextprotocol/related-task');
    }
  });

  it('[R-MT-22, R-MT-23] tasks/update and tasks/cancel answer with nothing, also for a task that has ended', async () => {
    const { client, start } = await serve(working1(Promise.resolve()));
    const { taskId } = await start();
    const { result } = { result: await until(client, taskId, 'completed') };
    for (const answer of [
      await client.update(taskId, { x: { action: 'accept' } }),
      await client.cancel(taskId),
    ]) {
      const { _meta, ...rest } = answer.result;
      expect(rest).toEqual({ resultType: 'complete' });
    }
    expect((await client.get(taskId)).result).toEqual(result);
  });

  it.each(['tasks/result', 'tasks/list'])('[R-MT-24, R-MT-74] %s is gone: 404 and -32601', async (method) => {
    const { client, start } = await serve(working1(Promise.resolve()));
    const { status, error } = await client.call(method, { taskId: (await start()).taskId });
    expect([status, error.code]).toEqual([404, -32601]);
  });
});

describe('the life of a task', () => {
  it('[R-MT-30, R-MT-33, R-MT-51] it works, asks, works on with the answer of tasks/update, and ends forever', async () => {
    const served = await serveAgent({
      ...extend(
        {
          card,
          async *agent({ messages }) {
            const answers = messages.filter(({ role }) => role === 'ROLE_USER').length - 1;
            if (answers < 2) return yield inputRequired(answers === 0 ? 'First?' : 'Second?');
            yield completed(
              messages
                .flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')))
                .join(' '),
            );
          },
        },
        formInput,
      ),
    });
    const client = rawClient((await serveMcp(served.agent)).url);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    const keys: string[] = [];
    for (const text of ['one', 'two']) {
      await expect
        .poll(async () =>
          Object.keys((await client.get(taskId)).result.inputRequests ?? {}).filter(
            (key) => !keys.includes(key),
          ),
        )
        .toHaveLength(1);
      const { inputRequests } = (await client.get(taskId)).result;
      // Polling makes no new key.
      expect((await client.get(taskId)).result.inputRequests).toEqual(inputRequests);
      const [key = ''] = Object.keys(inputRequests);
      expect(inputRequests[key].params).toMatchObject({
        mode: 'form',
        requestedSchema: { required: ['answer'] },
      });
      keys.push(key);
      await client.update(taskId, { [key]: { action: 'accept', content: { answer: text } } });
    }
    const done = await until(client, taskId, 'completed');
    expect(done.result.content[0].text).toBe('Go First? one Second? two');
    await client.update(taskId, { [keys[0]!]: { action: 'decline' } });
    await client.cancel(taskId);
    expect((await client.get(taskId)).result).toEqual(done);
  });

  it('[R-MT-34, R-MT-35, R-MT-36] each question has a key of its own, an answer counts once, and keys that are unknown or answered are ignored', async () => {
    let turns = 0;
    const { client, start } = await serve(async function* ({ messages }) {
      turns += 1;
      if (messages.length < 5) return yield inputRequired('The same words');
      yield completed('Done');
    });
    const { taskId } = await start();
    const first = Object.keys((await until(client, taskId, 'input_required')).inputRequests);
    const answer = { action: 'accept', content: { answer: 'x' } };
    await client.update(taskId, { unknown: answer });
    await Promise.all([1, 2, 3].map(() => client.update(taskId, { unknown: answer, [first[0]!]: answer })));
    await expect.poll(() => turns).toBe(2);
    const second = Object.keys((await until(client, taskId, 'input_required')).inputRequests);
    expect(second).not.toEqual(first);
    await client.update(taskId, { [first[0]!]: answer });
    expect(Object.keys((await client.get(taskId)).result.inputRequests)).toEqual(second);
    expect(turns).toBe(2);
  });

  it('[R-MT-35, R-MT-51] an answer that two servers send at the same moment arrives once', async () => {
    const { server, agent } = await serveAgent({
      card,
      async *agent({ messages }) {
        const answers = messages.filter(({ role }) => role === 'ROLE_USER').length - 1;
        if (answers === 0) return yield inputRequired('Who?');
        yield inputRequired(`${answers} answers`);
      },
    });
    const both = Promise.withResolvers<void>();
    let sends = 0;
    const holding = await connect('http://localhost', {
      async fetch(request) {
        const text = request.method === 'POST' ? await request.clone().text() : '';
        if (text.includes('"messageId":"answer-')) {
          sends += 1;
          if (sends === 2) both.resolve();
          await both.promise;
        }
        return server.fetch(request);
      },
    });
    const clients = [rawClient((await serveMcp(holding)).url), rawClient((await serveMcp(holding)).url)];
    const [{ task }] = [await agent.send('Go')];
    const taskId = task?.id ?? '';
    const key = task?.status.message?.messageId ?? '';
    const answer = { [key]: { action: 'accept', content: { answer: 'Me' } } };
    await Promise.all(clients.map((client) => client.update(taskId, answer)));
    await expect
      .poll(async () => textOf((await agent.getTask({ id: taskId })).status.message))
      .toBe('1 answers');
    const { history = [] } = await agent.getTask({ id: taskId });
    expect([sends, history.filter(({ role }) => role === 'ROLE_USER').length]).toEqual([2, 2]);
  });

  it('[R-MT-37, R-MT-55] tasks/cancel ends a task that runs and one that asks as cancelled', async () => {
    const gate = closedGate();
    const { url } = await serveSkills(gate);
    const client = rawClient(url);
    for (const tool of ['slow', 'name']) {
      const { taskId } = (await client.tool(tool)).result;
      expect((await client.cancel(taskId)).error).toBeUndefined();
      const task = await until(client, taskId, 'cancelled');
      expect([task.result, task.inputRequests]).toEqual([undefined, undefined]);
    }
  });

  it('[R-MT-37, R-MT-61] a cancel is a wish: a task that ends otherwise is no error', async () => {
    const { client, start } = await serve(async function* ({ signal }) {
      yield working();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield completedBeforeCancel('Was done');
    });
    const { taskId } = await start();
    await expect.poll(async () => (await client.get(taskId)).result.lastUpdatedAt).toBeDefined();
    expect((await client.cancel(taskId)).error).toBeUndefined();
    expect((await until(client, taskId, 'completed')).result.content[0].text).toBe('Was done');
  });

  it('[R-MT-32, R-MT-38] a handle is found at once by every server on the store, and says how often to ask', async () => {
    const store = memoryStore();
    const make = async () => {
      const server = createAgentServer({
        card,
        agent: working1(new Promise(() => {})),
        store,
        logger: () => {},
      });
      onTestFinished(() => server.close({ graceMs: 0 }));
      const agent = await connect('http://localhost', { fetch: server.fetch });
      return rawClient((await serveMcp(agent, { tasks: { pollIntervalMs: 250 } })).url);
    };
    const [one, other] = [await make(), await make()];
    for (let n = 0; n < 20; n += 1) {
      const { result } = await one.tool('Test', { message: 'Go' });
      expect(result.pollIntervalMs).toBe(250);
      expect((await other.get(result.taskId)).result.taskId).toBe(result.taskId);
    }
  });

  it('[R-MT-39, R-MT-59] createdAt never moves, and ttlMs says until when an ended task is kept', async () => {
    const { client, start } = await serve(
      async function* ({ messages }) {
        if (messages.length === 1) return yield inputRequired('Who?');
        yield completed('Done');
      },
      { tasks: { retentionMs: 60_000 } },
    );
    const created = await start();
    expect(created.ttlMs).toBeNull();
    const asked = await until(client, created.taskId, 'input_required');
    const [key = ''] = Object.keys(asked.inputRequests);
    await client.update(created.taskId, { [key]: { action: 'accept', content: { answer: 'Me' } } });
    const done = await until(client, created.taskId, 'completed');
    expect([asked.createdAt, done.createdAt]).toEqual([created.createdAt, created.createdAt]);
    expect(done.ttlMs).toBe(Date.parse(done.lastUpdatedAt) - Date.parse(done.createdAt) + 60_000);
  });

  it('[R-MT-40] an unknown id is -32602 for all three', async () => {
    const { client } = await serve(() => reply('Hi'));
    for (const { status, error } of [
      await client.get('none'),
      await client.update('none', {}),
      await client.cancel('none'),
    ])
      expect([status, error]).toEqual([200, { code: -32602, message: 'Task not found' }]);
  });

  it('[R-MT-40, R-MT-73] params that do not fit are -32602, each with a sentence', async () => {
    const { client, start } = await serve(async function* () {
      yield inputRequired('Who?');
    });
    const { taskId } = await start();
    const [key = ''] = Object.keys((await until(client, taskId, 'input_required')).inputRequests);
    const sentences: [unknown, RegExp][] = [
      [undefined, /inputResponses is missing/],
      [{ [key]: {} }, /has no action/],
      [{ [key]: { action: 'maybe' } }, /has no action that is one of accept, decline, cancel/],
      [{ [key]: { action: 'accept' } }, /lacks "answer"/],
      [{ [key]: { action: 'accept', content: ['x'] } }, /lacks "answer"/],
    ];
    for (const [responses, sentence] of sentences) {
      const { error } = await client.update(taskId, responses);
      expect([error.code, error.message]).toEqual([-32602, expect.stringMatching(sentence)]);
    }
    expect((await client.call('tasks/get', { taskId: 7 }, { headers: { 'mcp-name': '' } })).error.code).toBe(
      -32602,
    );
    expect((await client.get(taskId)).result.status).toBe('input_required');
  });
});

describe('A2A and the extension', () => {
  it('[R-MT-50, R-MT-62] a task that works has the text of its status, and sends no progress after the handle', async () => {
    const gate = closedGate();
    const { client, start } = await serve(working1(gate.open));
    const { taskId } = await start();
    await expect.poll(async () => (await client.get(taskId)).result.statusMessage).toBe('On it');
    gate.release();
    expect(await until(client, taskId, 'completed')).toMatchObject({ statusMessage: 'Done' });
  });

  it('[R-MT-52] an authorization with an address is an elicitation to open it, for clients that do', async () => {
    const { url, agent } = await serveSkills();
    const client = rawClient(url, fetch, { capabilities: { ...declared.tasks, ...declared.urls } });
    const { taskId } = (await client.tool('sign')).result;
    const messages = async () => (await agent.getTask({ id: taskId, historyLength: 100 })).history?.length;
    const { inputRequests } = await until(client, taskId, 'input_required');
    const [key = ''] = Object.keys(inputRequests);
    expect(inputRequests[key]).toEqual({
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Open https://example.com/sign', url: 'https://example.com/sign' },
    });
    const before = await messages();
    await client.update(taskId, { [key]: { action: 'accept' } });
    expect((await client.get(taskId)).result.status).toBe('input_required');
    // The authorization happens elsewhere: the agent is told nothing.
    expect(await messages()).toBe(before);
    await client.update(taskId, { [key]: { action: 'decline' } });
    await until(client, taskId, 'cancelled');
  });

  it('[R-MT-53, R-MT-63] a client that cannot be asked gets the question as a result, and goes on with continue_task', async () => {
    const { client, start } = await serve(async function* ({ messages, text }) {
      yield working();
      if (messages.length === 1) return yield inputRequired('Who?');
      yield completed(`Hi, ${text}`);
    });
    const capabilities = declared.tasks;
    const { taskId } = await start();
    await until(client, taskId, 'input_required');
    const { result } = await client.get(taskId, { capabilities });
    expect([result.status, result.inputRequests]).toEqual(['completed', undefined]);
    expect(result.result.content[0].text).toMatch(/^Who\?\n\n.*continue_task/);
    const { tools } = (await client.call('tools/list')).result;
    expect(tools.map(({ name }: { name: string }) => name)).toContain('continue_task');
    const answered = await client.tool('continue_task', { taskId, answer: 'Ann' }, { capabilities });
    expect(answered.result.content[0].text).toBe('Hi, Ann');
  });

  it('[R-MT-53] an authorization without an address, or for a client that opens none, is a result with isError', async () => {
    // An agent that asks before the handle is sent gets the result at once instead.
    const gate = closedGate();
    const { client, start } = await serve(async function* () {
      await gate.open;
      yield authRequired('Ask your admin');
    });
    const { taskId } = await start();
    gate.release();
    for (const capabilities of [
      { ...declared.tasks, ...declared.urls },
      { ...declared.tasks, ...declared.forms },
    ]) {
      await expect
        .poll(async () => (await client.get(taskId, { capabilities })).result.status)
        .toBe('completed');
      expect((await client.get(taskId, { capabilities })).result.result).toMatchObject({ isError: true });
    }
  });

  it('[R-MT-54] FAILED and REJECTED are completed with isError, and never failed', async () => {
    for (const update of [failed({ code: 'NO_ROOM', message: 'Full' }), rejected('Full')]) {
      const { client, start } = await serve(async function* () {
        yield working();
        yield update;
      });
      const created = await start();
      const result =
        created.resultType === 'task' ? (await until(client, created.taskId, 'completed')).result : created;
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Full') }] });
    }
  });

  it('[R-MT-56] an agent that is out of reach is -32603 for the poll, and the next one finds the task', async () => {
    const gate = closedGate();
    const { server } = await serveAgent({ card, agent: working1(gate.open) });
    let isDown = false;
    const agent = await connect('http://localhost', {
      retry: { attempts: 1 },
      fetch: (request) =>
        isDown ? Promise.reject(new TypeError('connect ECONNREFUSED 10.1.2.3')) : server.fetch(request),
    });
    const { url, errors } = await serveMcp(agent);
    const client = rawClient(url);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    isDown = true;
    const down = await client.get(taskId);
    expect(down.error.code).toBe(-32603);
    expect(JSON.stringify(down)).not.toContain('10.1.2.3');
    expect(errors).not.toEqual([]);
    isDown = false;
    gate.release();
    await until(client, taskId, 'completed');
  });

  it('[R-MT-57] decline cancels the task; a question that is closed is asked once more under another key', async () => {
    const { client, start } = await serve(async function* ({ messages }) {
      if (messages.length === 1) return yield inputRequired('Who?');
      yield completed('Done');
    });
    const { taskId } = await start();
    const ask = async () => Object.keys((await until(client, taskId, 'input_required')).inputRequests);
    const first = await ask();
    await client.update(taskId, { [first[0]!]: { action: 'cancel' } });
    const second = await ask();
    expect([first.length, second.length, second[0] === first[0]]).toEqual([1, 1, false]);
    await client.update(taskId, { [second[0]!]: { action: 'cancel' } });
    expect(await ask()).toEqual(second);
    await client.update(taskId, { [second[0]!]: { action: 'accept', content: { answer: 'Me' } } });
    await until(client, taskId, 'completed');

    const other = await start();
    const [key = ''] = Object.keys((await until(client, other.taskId, 'input_required')).inputRequests);
    await client.update(other.taskId, { [key]: { action: 'decline' } });
    await until(client, other.taskId, 'cancelled');
  });

  it('[R-MT-60] a task that has ended and a message are results at once', async () => {
    const { client } = await serve(() => reply('Hi'));
    expect((await client.tool('Test', { message: 'Go' })).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'Hi' }],
    });
  });
});
