import { A2AError, ClientError, connect } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type McpCaller, type McpHandlerOptions, mcpHandler, TASK_META } from '../src/index.ts';
import { closedGate, mcpClient, serveAgent, textOf, type Version, versions } from './clients.ts';
import { skillsAgent } from './skills-agent.ts';

const endpoint = new URL('http://mcp.example/mcp');

/** The caller whose key a request has. Keys can be revoked. */
const keysOf = () =>
  new Map(['alice 1', 'alice 2', 'mallory 1'].map((key) => [`Bearer ${key}`, key.split(' ')[0]!]));

/** An agent whose callers see only their own tasks, and an MCP endpoint that checks the same keys. */
async function serveCallers(options: McpHandlerOptions = {}) {
  const keys = keysOf();
  const server = createAgentServer({
    ...skillsAgent(closedGate()),
    store: memoryStore(),
    logger: () => {},
    authenticate: ({ headers }) => {
      const scope = keys.get(headers.authorization ?? '');
      return scope === undefined ? undefined : { scope };
    },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const agentOf = (authorization: string) =>
    connect('http://localhost', { fetch: server.fetch, headers: { authorization } });
  const handler = mcpHandler(async ({ headers }) => {
    const authorization = headers.get('authorization') ?? '';
    const caller = keys.get(authorization);
    if (caller === undefined) throw new A2AError('UNAUTHENTICATED', 'Who calls?');
    return { caller, agent: await agentOf(authorization) };
  }, options);
  onTestFinished(() => handler.close());
  const open = (key: string, version: Version) =>
    mcpClient(endpoint, version, undefined, {
      fetch: (url, init) => handler.fetch(new Request(url, init)),
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    });
  return { keys, handler, open, agentOf };
}

interface Sent {
  readonly key?: string;
  readonly session?: string | undefined;
  readonly method?: string;
  readonly body?: object;
}

const request = ({ key, session, method = 'POST', body }: Sent) =>
  new Request(endpoint, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(session && { 'mcp-session-id': session }),
    },
    ...(body && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) }),
  });

const call = (method: string, params: object = {}) => ({ body: { method, params } });

const sessionOf = ({ transport }: Awaited<ReturnType<typeof mcpClient>>) => transport!.sessionId;

const taskIdOf = (result: { _meta?: Record<string, unknown> }) =>
  (result._meta![TASK_META] as { id: string }).id;

describe('a session of MCP 2025-11-25', () => {
  it('answers only the caller that began it', async () => {
    const { handler, open, agentOf } = await serveCallers();
    const alice = await open('alice 1', '2025-11-25');
    const taskId = taskIdOf(await alice.callTool({ name: 'name' }));
    const session = sessionOf(alice);
    const requests: Sent[] = [
      call('tools/call', { name: 'continue_task', arguments: { taskId, answer: 'Mallory' } }),
      call('tasks/list'),
      call('tasks/get', { taskId }),
      call('tasks/cancel', { taskId }),
      { body: { result: { action: 'accept', content: {} } } },
      call('notifications/cancelled', { requestId: 1 }),
      { method: 'GET' },
      { method: 'DELETE' },
    ];
    for (const sent of requests) {
      const asMallory = await handler.fetch(request({ ...sent, session, key: 'mallory 1' }));
      expect([asMallory.status, await asMallory.json()]).toMatchObject([
        404,
        { error: { message: 'Session not found' } },
      ]);
      for (const key of ['', 'revoked']) {
        const unknown = await handler.fetch(request({ ...sent, session, key }));
        expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      }
    }
    const { tasks } = await (await agentOf('Bearer alice 1')).listTasks({});
    expect(tasks.map(({ id, status }) => [id, status.state])).toEqual([
      [taskId, 'TASK_STATE_INPUT_REQUIRED'],
    ]);
    const answer = { name: 'continue_task', arguments: { taskId, answer: 'Alice' } };
    expect(textOf(await alice.callTool(answer))).toMatch(/^Your last name\?/);
  });

  it('goes on with the new credentials of its caller, and not with revoked ones', async () => {
    const { keys, handler, open } = await serveCallers();
    const alice = await open('alice 1', '2025-11-25');
    const taskId = taskIdOf(await alice.callTool({ name: 'name' }));
    const session = sessionOf(alice);
    keys.delete('Bearer alice 1');
    const list = (key: string) => handler.fetch(request({ ...call('tasks/list'), session, key }));
    expect((await list('alice 1')).status).toBe(401);
    const listed = await list('alice 2');
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining(taskId)]);
  });
});

it('a caller that begins many sessions ends none of another caller', async () => {
  const { open } = await serveCallers({ sessions: 2 });
  const alice = await open('alice 1', '2025-11-25');
  const first = await open('mallory 1', '2025-11-25');
  const second = await open('mallory 1', '2025-11-25');
  await expect(first.listTools()).rejects.toThrow(/Session not found/);
  for (const client of [alice, second]) expect((await client.listTools()).tools).not.toEqual([]);
});

it.each(versions)('callers of MCP %s reach only their own tasks', async (version) => {
  const { open } = await serveCallers();
  const [alice, mallory] = [await open('alice 1', version), await open('mallory 1', version)];
  const continued = {
    name: 'continue_task',
    arguments: { taskId: taskIdOf(await alice.callTool({ name: 'name' })) },
  };
  const stolen = await mallory.callTool(continued);
  expect([stolen.isError, textOf(stolen)]).toEqual([true, expect.stringContaining('TASK_NOT_FOUND')]);
  expect(textOf(await alice.callTool(continued))).toMatch(/^Your first name\?/);
});

describe('a function that chooses the agent', () => {
  const initialize = {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const requests: Sent[] = [
    { body: initialize },
    { session: 'x', ...call('tasks/list') },
    { session: 'x', method: 'DELETE' },
    call('tools/list'),
  ];

  it.each([
    [new A2AError('PERMISSION_DENIED', 'Not you', { challenge: 'Bearer error="x"' }), 403, 'Not you', 0],
    [new A2AError('RESOURCE_EXHAUSTED', 'Later', { retryAfter: 7 }), 429, 'Later', 0],
    [new A2AError('UNAVAILABLE', 'No keys', { cause: new Error('secret') }), 503, 'No keys', 1],
    [new A2AError('INTERNAL_ERROR', 'secret'), 500, 'Internal error', 1],
    [
      new ClientError('NETWORK', 'No contact with http://secret'),
      502,
      'The agent cannot be called (NETWORK)',
      1,
    ],
    [new Error('secret'), 500, 'Internal error', 1],
    ['secret', 500, 'Internal error', 1],
  ])('refuses a request by throwing %s: %i', async (thrown, status, message, noted) => {
    for (const sent of requests) {
      const errors: unknown[] = [];
      const handler = mcpHandler(() => Promise.reject(thrown), { onError: (error) => errors.push(error) });
      onTestFinished(() => handler.close());
      const response = await handler.fetch(request(sent));
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { message } });
      expect(errors).toEqual(noted ? [thrown] : []);
      const { challenge, retryAfter } = Object(thrown) as Partial<A2AError>;
      expect(response.headers.get('www-authenticate')).toBe(challenge ?? null);
      expect(response.headers.get('retry-after')).toBe(retryAfter === undefined ? null : String(retryAfter));
    }
  });

  it.each(['only the agent', 'a caller without a name', 'no agent', 'nothing'])(
    'may not return %s',
    async (what) => {
      const { agent } = await serveAgent(skillsAgent(closedGate()));
      const returned: Record<string, unknown> = {
        'only the agent': agent,
        'a caller without a name': { caller: '', agent },
        'no agent': { caller: 'alice' },
      };
      const errors: Error[] = [];
      const onError = (error: unknown) => errors.push(error as Error);
      const handler = mcpHandler(() => returned[what] as unknown as McpCaller, { onError });
      onTestFinished(() => handler.close());
      const response = await handler.fetch(request({ body: initialize }));
      expect([response.status, await response.json()]).toMatchObject([
        500,
        { error: { message: 'Internal error' } },
      ]);
      expect(errors.map(String)).toEqual([
        'TypeError: The function of mcpHandler returns { caller, agent }, and the caller is a name',
      ]);
    },
  );

  it('does not hide an option that is out of bounds', () => {
    const choose = () => Promise.reject(new Error('never called'));
    expect(() => mcpHandler(choose, { waitMs: -1 })).toThrow(RangeError);
    expect(() => mcpHandler(choose, { sessions: 0 })).toThrow(RangeError);
    expect(() => mcpHandler(choose, { bodyBytes: 0 })).toThrow(RangeError);
  });
});

describe('a request of more bytes than `bodyBytes`', () => {
  const long = (bytes: number) =>
    call('tools/call', { name: 'x', arguments: { message: 'x'.repeat(bytes) } });

  it.each(versions)('is answered 413 to a client of MCP %s, and the agent is not asked', async (version) => {
    const { handler, open } = await serveCallers({ bodyBytes: 2_000 });
    const session = sessionOf(await open('alice 1', version));
    const refused = await handler.fetch(request({ key: 'alice 1', session, ...long(2_000) }));
    expect(refused.status).toBe(413);
    const taken = await handler.fetch(request({ key: 'alice 1', session, ...long(1_000) }));
    expect(taken.status).not.toBe(413);
  });

  it('is one of more than 1 MiB by default', async () => {
    const { handler } = await serveCallers();
    const refused = await handler.fetch(request({ key: 'alice 1', ...long(1_048_576) }));
    expect(refused.status).toBe(413);
  });
});

describe('a request of more than 20,000 values', () => {
  const values = (count: number) =>
    call('tools/call', { name: 'x', arguments: { message: 'x', data: { list: Array(count).fill(0) } } });

  it.each(versions)('is answered 400 to a client of MCP %s, and the agent is not asked', async (version) => {
    const { handler, open } = await serveCallers();
    const session = sessionOf(await open('alice 1', version));
    const refused = await handler.fetch(request({ key: 'alice 1', session, ...values(20_000) }));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('more than 20000 values');
    const taken = await handler.fetch(request({ key: 'alice 1', session, ...values(19_000) }));
    expect(await taken.text()).not.toContain('values');
  });
});
