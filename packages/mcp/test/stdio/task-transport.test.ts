import { connect } from '@batonjs/client';
import { completed, inputRequired, working } from '@batonjs/server';
import { InMemoryTransport, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declared } from '../../../../test/kit/http/raw-mcp-client.ts';
import { serveMcpStdio } from '../../src/node.ts';
import { closedGate, serveAgent } from '../clients.ts';

const card = { name: 'Test', description: 'For tests', version: '1.0.0' };
const subscriptionId = 'io.modelcontextprotocol/subscriptionId';
const capabilities = { ...declared.tasks, ...declared.forms };

// biome-ignore lint/suspicious/noExplicitAny: messages have many shapes.
type Message = any;

/** A host on the other end of the pipe: it sends messages as they are, and keeps what comes. */
async function host(transport: Transport) {
  const received: Message[] = [];
  transport.onmessage = (message) => received.push(message);
  await transport.start();
  const send = (message: object) => transport.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const meta = (more: object = {}) => ({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...more,
  });
  let lastId = 0;
  /** Sends a request. Resolves to its id. */
  const ask = async (method: string, params: object = {}, more?: object): Promise<number> => {
    lastId += 1;
    await send({ id: lastId, method, params: { ...params, _meta: meta(more) } });
    return lastId;
  };
  const answerTo = async (id: number): Promise<Message> => {
    await expect.poll(() => received.filter((one) => one.id === id)).toHaveLength(1);
    return received.find((one) => one.id === id);
  };
  const call = async (method: string, params?: object, more?: object) =>
    answerTo(await ask(method, params, more));
  const listen = (taskIds: unknown, more?: object) =>
    ask('subscriptions/listen', { notifications: { taskIds } }, more);
  /** What came for a subscription. */
  const of = (id: number) => received.filter(({ params }) => params?._meta?.[subscriptionId] === id);
  /** Waits until a subscription has told of a status. */
  const told = (id: number, status: string) =>
    expect.poll(() => of(id).map(({ params }) => params.status)).toContain(status);
  const leave = (id: number) => send({ method: 'notifications/cancelled', params: { requestId: id } });
  return { received, send, call, ask, answerTo, listen, of, told, leave };
}

/** An agent over a pipe, which works until the gate opens, or asks. */
async function served() {
  const gate = closedGate();
  const { server } = await serveAgent({
    card,
    async *agent({ text, messages }) {
      yield working('On it');
      if (text === 'ask' && messages.length === 1) return yield inputRequired('Who?');
      await gate.open;
      yield completed('Done');
    },
  });
  const streams = new Set<Request>();
  const broken = { is: false };
  const agent = await connect('http://localhost', {
    retry: false,
    async fetch(request) {
      if (broken.is) throw new TypeError('fetch failed at secret-host');
      const response = await server.fetch(request);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      streams.add(request);
      request.signal.addEventListener('abort', () => streams.delete(request));
      return response;
    },
  });
  const errors: unknown[] = [];
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const mcp = serveMcpStdio(agent, { transport: theirs, onError: (error) => errors.push(error) });
  onTestFinished(() => mcp.close());
  const client = await host(ours);
  const start = async (message = 'Go'): Promise<string> =>
    (await client.call('tools/call', { name: 'Test', arguments: { message } })).result.taskId;
  return { ...client, gate, mcp, agent, streams, errors, start, pipe: ours, broken };
}

describe('a host over standard input', () => {
  it('[R-MT-25, R-MT-41] is told of a task as tasks/get shows it, first which tasks those are and last that they ended', async () => {
    const { gate, start, call, listen, of, told, answerTo, mcp, received } = await served();
    const taskId = await start();
    const id = await listen([taskId, 'unknown', taskId]);
    await told(id, 'working');
    const { resultType, _meta, ...shown } = (await call('tasks/get', { taskId })).result;
    expect(of(id)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { taskIds: [taskId] }, _meta: { [subscriptionId]: id } },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/tasks',
        params: { ...shown, _meta: { [subscriptionId]: id } },
      },
    ]);
    gate.release();
    expect(await answerTo(id)).toEqual({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', _meta: { [subscriptionId]: id } },
    });
    expect(of(id).at(-1)).toMatchObject({ params: { status: 'completed' } });
    // The SDK knows that it has ended, and does not end it once more.
    await mcp.close();
    expect(received.filter((one) => one.id === id)).toHaveLength(1);
  });

  it('may cancel what it does not name, or what has not begun', async () => {
    const { send, leave, start, listen, told } = await served();
    const taskId = await start();
    await send({ method: 'notifications/cancelled' });
    await send({ method: 'notifications/cancelled', params: {} });
    await leave(4_711);
    await told(await listen([taskId]), 'working');
  });

  it('[R-MT-41] that ends a subscription is told nothing more, and the task goes on', async () => {
    const { gate, start, call, listen, of, told, leave, streams, received } = await served();
    const taskId = await start();
    const [left, kept] = [await listen([taskId]), await listen([taskId])];
    await told(left, 'working');
    await told(kept, 'working');
    await expect.poll(() => streams.size).toBe(2);
    await leave(left);
    await expect.poll(() => streams.size).toBe(1);
    const before = of(left).length;
    gate.release();
    await told(kept, 'completed');
    expect(of(left)).toHaveLength(before);
    expect(received.filter(({ id }) => id === left)).toEqual([]);
    expect((await call('tasks/get', { taskId })).result.status).toBe('completed');
  });

  it('that closes in the middle of a subscription leaves nothing behind, and the task goes on', async () => {
    const { gate, start, listen, told, streams, pipe, agent } = await served();
    const taskId = await start();
    await told(await listen([taskId]), 'working');
    await expect.poll(() => streams.size).toBe(1);
    await pipe.close();
    await expect.poll(() => streams.size).toBe(0);
    gate.release();
    await expect
      .poll(async () => (await agent.getTask({ id: taskId })).status.state)
      .toBe('TASK_STATE_COMPLETED');
  });

  it('whose server closes in the middle of a subscription is told no end of its task', async () => {
    const { gate, start, listen, of, told, streams, mcp, agent } = await served();
    const taskId = await start();
    const id = await listen([taskId]);
    await told(id, 'working');
    await mcp.close();
    await expect.poll(() => streams.size).toBe(0);
    gate.release();
    await expect
      .poll(async () => (await agent.getTask({ id: taskId })).status.state)
      .toBe('TASK_STATE_COMPLETED');
    expect(of(id).map(({ params }) => params.status)).not.toContain('completed');
  });

  it('[R-MT-13, R-MT-40] is refused with the extension that it lacks, or the ids that are none, under the id of its request', async () => {
    const { start, listen, answerTo } = await served();
    const taskId = await start();
    const without = { 'io.modelcontextprotocol/clientCapabilities': declared.forms };
    const id = await listen([taskId], without);
    expect(await answerTo(id)).toEqual({
      jsonrpc: '2.0',
      id,
      error: {
        message: expect.stringContaining('io.modelcontextprotocol/tasks'),
        code: -32021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    });
    const refused = await answerTo(await listen([]));
    expect(refused.error).toEqual({
      code: -32602,
      message: 'notifications.taskIds is a list of 1 to 100 ids of tasks',
    });
  });

  it('has at most 128 subscriptions, and a place again for each that ended', async () => {
    const { start, listen, answerTo, told, leave } = await served();
    const taskId = await start();
    const ids: number[] = [];
    for (let n = 0; n < 128; n += 1) ids.push(await listen([taskId]));
    expect((await answerTo(await listen([taskId]))).error).toEqual({
      code: -32603,
      message: 'Subscription limit reached',
    });
    await told(ids[127]!, 'working');
    await leave(ids[0]!);
    const again = await listen([taskId]);
    await told(again, 'working');
  });

  it('whose agent is out of reach gets an error without its address, and may listen again', async () => {
    const { start, listen, answerTo, told, broken, errors } = await served();
    const taskId = await start();
    broken.is = true;
    const refused = await answerTo(await listen([taskId]));
    expect(refused.error).toEqual({
      code: -32603,
      message: expect.stringMatching(/^The agent cannot be called/),
    });
    expect(errors.map(String).join()).not.toBe('');
    broken.is = false;
    await told(await listen([taskId]), 'working');
  });

  it('[R-MT-75] is served by the SDK where it asks for no tasks, beside those that do', async () => {
    const { start, listen, answerTo, of, call, ask } = await served();
    const taskId = await start('ask');
    const id = await listen([taskId]);
    await expect.poll(() => of(id).map(({ params }) => params.status)).toContain('input_required');
    const others = await ask('subscriptions/listen', { notifications: { toolsListChanged: true } });
    await expect
      .poll(() => of(others).map(({ method }) => method))
      .toEqual(['notifications/subscriptions/acknowledged']);
    const [key = ''] = Object.keys(of(id).at(-1).params.inputRequests);
    await call('tasks/update', { taskId, inputResponses: { [key]: { action: 'decline' } } });
    expect((await answerTo(id)).result.resultType).toBe('complete');
    expect(of(id).at(-1).params.status).toBe('cancelled');
  });
});

it('the program says which option it does not have', async () => {
  const { agent } = await serveAgent({ card, agent: async function* () {} });
  const options = { wait: 1 } as object;
  expect(() => serveMcpStdio(agent, options)).toThrow(
    new TypeError('There is no option `wait`: did you mean `waitMs`?'),
  );
});
