import { A2AError, type AgentClient, connect } from '@batonjs/client';
import { append, artifact, completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { mcpHandler } from '../../src/index.ts';
import { closedGate, serveAgent, serveMcp, serveSkills } from '../clients.ts';

const card = { name: 'Test', description: 'For tests', version: '1.0.0' };
const subscriptionId = 'io.modelcontextprotocol/subscriptionId';

// biome-ignore lint/suspicious/noExplicitAny: messages have many shapes.
type Messages = AsyncGenerator<any, void, void>;

/** The next message of a stream. */
const next = async (messages: Messages) => (await messages.next()).value;

/** The messages until a task has a status, that one last. */
async function until(messages: Messages, status: string) {
  const seen = [];
  for (;;) {
    const message = await next(messages);
    if (!message) throw new Error(`The stream ended: ${JSON.stringify(seen)}`);
    seen.push(message);
    if (message.params?.status === status) return seen;
  }
}

describe('subscriptions/listen with taskIds', () => {
  it('tells of a status once, however often the task is read that grows meanwhile', async () => {
    let reads = 0;
    let isOver = false;
    const { server } = await serveAgent({
      // It is read again and again.
      card: { ...card, capabilities: { streaming: false } },
      async *agent() {
        yield working('On it');
        yield artifact('a', '.');
        while (!isOver) {
          const before = reads;
          yield append('a', '.');
          while (reads === before && !isOver) await new Promise((resolve) => setImmediate(resolve));
        }
        yield completed('Done');
      },
    });
    const agent = await connect('http://localhost', {
      clock: { sleep: () => new Promise((resolve) => setImmediate(resolve)) },
      fetch: async (request) => {
        const { method } = await request
          .clone()
          .json()
          .catch(() => ({}));
        if (method === 'GetTask') reads += 1;
        return server.fetch(request);
      },
    });
    const client = rawClient((await serveMcp(agent)).url);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    const { messages } = await client.listen([taskId]);
    await next(messages);
    const before = reads;
    await expect.poll(() => reads - before).toBeGreaterThan(5);
    isOver = true;
    const seen = (await until(messages, 'completed')).map(({ params }) => params.status);
    expect(seen).toEqual(['working', 'completed']);
  });

  it('[R-MT-25, R-MT-41] tells of each change as tasks/get shows it, under the id of the request, and ends with the tasks', async () => {
    const gate = closedGate();
    const { agent } = await serveAgent({
      card,
      async *agent({ messages, text }) {
        if (messages.length === 1) {
          yield working('On it');
          await gate.open;
          return yield inputRequired('Who?');
        }
        yield completed(`Hi, ${text}`);
      },
    });
    const client = rawClient((await serveMcp(agent)).url);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    const { status, messages } = await client.listen([taskId, 'unknown', taskId]);
    expect(status).toBe(200);
    const acknowledged = await next(messages);
    expect(acknowledged).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    const id = acknowledged.params._meta[subscriptionId];
    gate.release();
    const asked = (await until(messages, 'input_required')).at(-1);
    const { resultType, _meta, ...shown } = (await client.get(taskId)).result;
    expect(asked).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tasks',
      params: { ...shown, _meta: { [subscriptionId]: id } },
    });
    const [key = ''] = Object.keys(shown.inputRequests);
    await client.update(taskId, { [key]: { action: 'accept', content: { answer: 'Ann' } } });
    const done = await until(messages, 'completed');
    expect(done.at(-1).params.result.content).toEqual([{ type: 'text', text: 'Hi, Ann' }]);
    for (const { method, params } of done) {
      expect(method).toBe('notifications/tasks');
      expect(params._meta).toEqual({ [subscriptionId]: id });
    }
    expect(await next(messages)).toMatchObject({
      id,
      result: { resultType: 'complete', _meta: { [subscriptionId]: id } },
    });
    expect(await next(messages)).toBeUndefined();
  });

  it('[R-MT-41] begins with each task as it is: a client that comes back after a death of the server misses nothing', async () => {
    const store = memoryStore();
    const gate = closedGate();
    const start = async () => {
      const server = createAgentServer({
        card,
        async *agent() {
          yield working('On it');
          await gate.open;
          yield completed('Done');
        },
        store,
        restart: 'rerun',
        timeouts: { leaseMs: 300 },
        logger: () => {},
      });
      const agent = await connect('http://localhost', { fetch: server.fetch });
      const handler = mcpHandler(agent);
      onTestFinished(async () => {
        await handler.close();
        await server.close({ graceMs: 0 });
      });
      return { server, handler, client: rawClient('http://localhost/mcp', handler.fetch) };
    };
    const first = await start();
    const { taskId } = (await first.client.tool('Test', { message: 'Go' })).result;
    const { messages } = await first.client.listen([taskId]);
    await until(messages, 'working');
    await first.handler.close();
    // A server that closes ends the stream in good order.
    const rest = [];
    for await (const message of messages) rest.push(message);
    expect(rest.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    await first.server.close({ graceMs: 0 });
    gate.release();
    const second = await start();
    const again = await second.client.listen([taskId]);
    expect(await next(again.messages)).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
    await until(again.messages, 'completed');
  });

  it('[R-MT-25] follows the log of the agent over connections that break, each change once', async () => {
    const gate = closedGate();
    const { server } = await serveAgent({
      card,
      async *agent() {
        for (const text of ['one', 'two', 'three']) yield working(text);
        await gate.open;
        yield working('four');
        yield completed('Done');
      },
    });
    let streams = 0;
    const agent = await connect('http://localhost', {
      async fetch(request) {
        const response = await server.fetch(request);
        if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
        streams += 1;
        if (streams > 2) return response;
        // The connection breaks after its first event.
        const reader = response.body?.getReader();
        const first = await reader?.read();
        const broken = new ReadableStream({
          async pull(controller) {
            if (first?.value) controller.enqueue(first.value);
            await reader?.cancel();
            controller.error(new TypeError('terminated'));
          },
        });
        return new Response(broken, response);
      },
    });
    const client = rawClient((await serveMcp(agent)).url);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    await expect.poll(async () => (await client.get(taskId)).result.statusMessage).toBe('three');
    const { messages } = await client.listen([taskId]);
    await until(messages, 'working');
    gate.release();
    const seen = await until(messages, 'completed');
    expect(seen.map(({ params }) => params.statusMessage)).toEqual(['four', 'Done']);
    expect(streams).toBeGreaterThan(1);
  });

  it('[R-MT-41] of many tasks tells of each, and of those that have ended at once', async () => {
    const gate = closedGate();
    const { url } = await serveSkills(gate);
    const client = rawClient(url);
    const ids: string[] = [];
    for (const tool of ['slow', 'slow', 'name', 'slow']) ids.push((await client.tool(tool)).result.taskId);
    await client.cancel(ids[3] ?? '');
    const { messages } = await client.listen(ids);
    gate.release();
    const last = new Map<string, string>();
    for await (const { params } of messages) {
      if (params?.taskId) last.set(params.taskId, params.status);
      if (ids.every((id, n) => last.get(id) === ['completed', 'completed', 'input_required', 'cancelled'][n]))
        break;
    }
    expect([...last.keys()].sort()).toEqual(ids.sort());
  });

  it.each([
    ['nothing', []],
    ['no list', 'x'],
    ['no id', [7]],
    ['too many', Array.from({ length: 101 }, (_, n) => String(n))],
  ])('[R-MT-41] refuses %s with -32602', async (_what, taskIds) => {
    const { url } = await serveSkills();
    const { status, messages } = await rawClient(url).listen(taskIds);
    expect([status, (await next(messages)).error]).toEqual([
      200,
      { code: -32602, message: 'notifications.taskIds is a list of 1 to 100 ids of tasks' },
    ]);
  });

  it('[R-MT-05, R-MT-41, R-MT-75] is checked by the SDK first, and left to it where no tasks are named', async () => {
    const { url } = await serveSkills();
    const client = rawClient(url);
    const refused = await client.listen(['x'], { headers: { 'mcp-method': 'tools/list' } });
    expect([refused.status, (await next(refused.messages)).error.code]).toEqual([400, -32020]);
    const { messages } = await client.listen(undefined);
    const { params } = await next(messages);
    // The SDK acknowledges nothing that it does not know.
    expect(params.notifications).toEqual({});
  });

  it('leaves the task alone when its client leaves, and follows it no more', async () => {
    const gate = closedGate();
    const { server } = await serveAgent({
      card,
      async *agent() {
        yield working('On it');
        await gate.open;
        yield completed('Done');
      },
    });
    const open = new Set<Request>();
    const agent = await connect('http://localhost', {
      async fetch(request) {
        const response = await server.fetch(request);
        if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
        open.add(request);
        request.signal.addEventListener('abort', () => open.delete(request));
        return response;
      },
    });
    const client = rawClient((await serveMcp(agent)).url);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    const stop = new AbortController();
    const { messages } = await client.listen([taskId], { signal: stop.signal });
    await until(messages, 'working');
    await expect.poll(() => open.size).toBe(1);
    stop.abort();
    await expect.poll(() => open.size).toBe(0);
    expect((await client.get(taskId)).result.status).toBe('working');
    gate.release();
    await expect.poll(async () => (await client.get(taskId)).result.status).toBe('completed');
  });

  it('closes although a client does not read', async () => {
    const { agent } = await serveAgent({
      card,
      async *agent() {
        yield working('x'.repeat(100_000));
        await new Promise(() => {});
      },
    });
    const handler = mcpHandler(agent);
    const client = rawClient('http://localhost/mcp', handler.fetch);
    const { taskId } = (await client.tool('Test', { message: 'Go' })).result;
    const { messages } = await client.listen([taskId]);
    await handler.close();
    await messages.return();
  });
});

describe('two callers', () => {
  /** Alice and Mallory at one endpoint, each with a name at the agent. */
  async function serveTwo() {
    const server = createAgentServer({
      card,
      agent: async function* () {
        yield inputRequired('Who?');
      },
      store: memoryStore(),
      authenticate: ({ headers }) => {
        const name = headers.authorization;
        return name ? { scope: name } : undefined;
      },
      logger: () => {},
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const handler = mcpHandler(async ({ headers }) => {
      const caller = headers.get('authorization');
      if (!caller) throw new A2AError('UNAUTHENTICATED', 'Who calls?');
      const agent: AgentClient = await connect('http://localhost', {
        fetch: server.fetch,
        headers: { authorization: caller },
      });
      return { caller, agent };
    });
    onTestFinished(() => handler.close());
    return (name: string) =>
      rawClient('http://localhost/mcp', handler.fetch, { headers: { authorization: name } });
  }

  it('[R-MT-42, R-MT-58] never see each other: an id of another caller is unknown for every request', async () => {
    const as = await serveTwo();
    const [alice, mallory] = [as('alice'), as('mallory')];
    const { taskId } = (await alice.tool('Test', { message: 'Go' })).result;
    const status = async () => (await alice.get(taskId)).result.status;
    await expect.poll(status).toBe('input_required');
    const [key = ''] = Object.keys((await alice.get(taskId)).result.inputRequests);
    const answers = [
      await mallory.get(taskId),
      await mallory.update(taskId, { [key]: { action: 'decline' } }),
      await mallory.cancel(taskId),
    ];
    for (const { error } of answers) expect(error).toEqual((await mallory.get('none')).error);
    const { messages } = await mallory.listen([taskId]);
    expect((await next(messages)).params.notifications).toEqual({ taskIds: [] });
    expect(await next(messages)).toMatchObject({ result: { resultType: 'complete' } });
    expect(await status()).toBe('input_required');
    // Who is not known gets no further than the door.
    expect((await as('').get(taskId)).status).toBe(401);
  });

  it('[R-MT-42] have their own share of the streams', async () => {
    const as = await serveTwo();
    const [alice, mallory] = [as('alice'), as('mallory')];
    const task = async (client: typeof alice) => (await client.tool('Test', { message: 'Go' })).result.taskId;
    const [hers, his] = [await task(alice), await task(mallory)];
    const streams = [];
    for (let n = 0; n < 128; n += 1) streams.push(await mallory.listen([his]));
    expect((await next((await mallory.listen([his])).messages)).error.message).toBe(
      'Subscription limit reached',
    );
    expect((await next((await alice.listen([hers])).messages)).params.notifications).toEqual({
      taskIds: [hers],
    });
    for (const { messages } of streams) await messages.return();
  });
});
