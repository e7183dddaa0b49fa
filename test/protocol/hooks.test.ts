import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { v03Client } from '@batonjs/bindings-v0-3';
import { connect } from '@batonjs/client';
import { webhookReceiver } from '@batonjs/client/webhook-receiver';
import { mcpHandler } from '@batonjs/mcp';
import { type AgentServerOptions, completed, createAgentServer, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { createTaskGateway } from '@batonjs/task-gateway';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { activityOf } from '../../packages/inspector/src/activity.ts';
import { attempt } from '../../packages/server/src/webhooks/attempt.ts';
import { pushFormat } from '../../packages/server/src/webhooks/webhooks.ts';
import { push } from '../../packages/server/test/webhooks/kit/push-config.ts';
import { delivering } from '../../packages/server/test/webhooks/kit/stored-task.ts';

type Hook = (...args: unknown[]) => unknown;

const card = { name: 'Agent', description: 'Ends', version: '1' };
function serving(options: Partial<AgentServerOptions>) {
  const server = createAgentServer({
    card,
    agent: async function* () {
      yield completed();
    },
    store: memoryStore(),
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}
const stateOf = async (options: Partial<AgentServerOptions>) => {
  const client = await connect('http://localhost', { fetch: serving(options).fetch });
  return (await client.send('Hi')).task?.status.state;
};
/** An object of which each function is the hook. */
const each = (hook: Hook): never =>
  new Proxy({}, { get: (_, name) => (/headers|parent/.test(String(name)) ? undefined : hook) }) as never;
/** A span whose values are what the hook gives. */
const holding = (hook: Hook): never =>
  ({
    run: (fn: () => unknown) => fn(),
    ...Object.fromEntries(['received', 'streams', 'saw', 'updated', 'end'].map((name) => [name, () => {}])),
    step: () => undefined,
    get headers() {
      return hook();
    },
    get traceparent() {
      return hook();
    },
  }) as never;

/** What a call, a stream, a step and a wait of a process are, in the spans of the user's telemetry. */
async function tracedState(ofServer: () => undefined, ofClient: () => undefined = () => undefined) {
  const server = serving({
    telemetry: ofServer(),
    agent: async function* (turn) {
      yield working(await turn.step('s', () => 'stepped'));
      yield completed(await turn.step('t', { retries: 1 }, async ({ attempt }) => `try ${attempt}`));
    },
  });
  const client = await connect('http://localhost', { fetch: server.fetch, telemetry: ofClient() });
  const states: unknown[] = [(await client.send('Hi')).task?.status];
  for await (const event of client.stream('Hi')) states.push(Object.keys(event));
  await server.close();
  return JSON.parse(JSON.stringify(states), (key, value) => (/Id$|timestamp/.test(key) ? 'id' : value));
}
const failing = async () => thrown(new Error('The agent failed'));
const post = (body: unknown, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });
const shown = async (response: Promise<Response>) => {
  const { status, body } = await response;
  return [status, await new Response(body).text()];
};
const refuses = () => Promise.reject(new Error('No client'));
const never = () => new Promise<never>(() => {});

/** Each function of the user's for whose answer nobody waits, by its package, and what shows that it changes nothing. */
const hooks: Readonly<Record<string, (hook: Hook) => unknown>> = {
  'server: logger': (logger) => stateOf({ logger, agent: failing }),
  'server: a logger of pino': (error) => stateOf({ logger: { error, warn() {}, info() {} }, agent: failing }),
  'server: onEvent': (onEvent) => stateOf({ onEvent }),
  'server: telemetry': (hook) => tracedState(() => each(hook)),
  'server: the spans of telemetry': (hook) => tracedState(() => each(() => each(hook))),
  'server: what the spans of telemetry hold': (hook) => tracedState(() => each(() => holding(hook))),
  'client: telemetry': (hook) =>
    tracedState(
      () => undefined,
      () => each(hook),
    ),
  'client: the spans of telemetry': (hook) =>
    tracedState(
      () => undefined,
      () => each(() => each(hook)),
    ),
  'client: what the spans of telemetry hold': (hook) =>
    tracedState(
      () => undefined,
      () => each(() => holding(hook)),
    ),
  'ag-ui: onError': (onError) => shown(agUiHandler(refuses, { onError }).fetch(post({}))),
  'ai-sdk: onError of chatHandler': (onError) => shown(chatHandler(refuses, { onError }).fetch(post({}))),
  'mcp: onError': (onError) => shown(mcpHandler(refuses, { onError }).fetch(post({}))),
  'client: onError of webhookReceiver': (onError) =>
    shown(
      webhookReceiver({ token: 't', expects: refuses, onEvent: () => {}, onError }).fetch(
        post(
          { task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } },
          { 'x-a2a-notification-token': 't' },
        ),
      ),
    ),
  'client: onOpen': async (onOpen) => {
    const client = await connect('http://localhost', { fetch: serving({}).fetch });
    return (await client.stream('Hi', { onOpen }).result()).task?.status.state;
  },
  'bindings-v0-3: onLoss': (onLoss) =>
    v03Client({ onLoss }).decodePush({ kind: 'task', id: 't', status: { state: 'no state' } }),
  'task-gateway: logger': async (logger) => {
    const gateway = createTaskGateway({ types: {}, typo: 1, logger } as never);
    await gateway.close();
  },
  'inspector: onAction': (onAction) => {
    const activity = activityOf(onAction);
    void activity.add({ at: 'now', action: 'cancel' } as never);
    return activity.search('');
  },
};

describe('a hook changes no answer and ends no process, and its failure is printed:', () => {
  it.each(Object.entries(hooks))('%s', async (_, use) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const calls = vi.fn<Hook>();
    const usual = await use(calls);
    expect(calls).toHaveBeenCalled();
    const error = new Error('The hook failed');
    const wrong: Record<string, Hook> = {
      throws: () => thrown(error),
      rejects: async () => thrown(error),
      never,
    };
    for (const [how, hook] of Object.entries(wrong)) {
      printed.mockClear();
      expect([how, await use(hook)]).toEqual([how, usual]);
      if (hook !== never)
        await vi.waitFor(() => expect(JSON.stringify(printed.mock.calls)).toMatch(/failed/));
    }
    await new Promise((resolve) => setTimeout(resolve));
    expect(unhandled).toEqual([]);
  });
});

it.each([
  ['telemetry', () => ({})],
  ['spans', () => each(() => ({}))],
])('%s that lack what they are asked for change nothing', async (_, telemetry) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const usual = await tracedState(() => undefined);
  const lacking = telemetry as () => never;
  expect(await tracedState(lacking, lacking)).toEqual(usual);
  expect(JSON.stringify(printed.mock.calls)).toMatch(/telemetry/);
});

function thrown(error: Error): never {
  throw error;
}

const reasonOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return (error as { reason?: string }).reason ?? (error as { code?: string }).code;
};

/** Each function for whose answer a request or a delivery waits, and what becomes of it when that never comes. */
const asked: Readonly<Record<string, readonly [result: unknown, use: () => unknown]>> = {
  'server: authenticate': ['UNAVAILABLE', () => refusalOf({ authenticate: never })],
  'server: card.tenants': [
    'UNAVAILABLE',
    () => refusalOf({ card: { ...card, tenants: never } }, { tenant: 'a' }),
  ],
  'task-gateway: authenticate': [
    503,
    async () => {
      const gateway = createTaskGateway({ types: {}, authenticate: never, logger: () => {} });
      onTestFinished(() => gateway.close());
      const { url, close } = await listen(gateway);
      onTestFinished(() => close());
      return (await fetch(`${url}/task`)).status;
    },
  ],
  'server: card.sign': [
    503,
    async () => {
      const options = { card: { ...card, sign: never }, publicUrl: 'http://localhost', ...soon };
      return (await serving(options).fetch(new Request('http://localhost/.well-known/agent-card.json')))
        .status;
    },
  ],
  'server: card.extended': [
    'UNAVAILABLE',
    async () => {
      const options = { card: { ...card, extended: never }, authenticate: () => ({ scope: 'a' }), ...soon };
      const client = await connect('http://localhost', { fetch: serving(options).fetch, retry: false });
      return reasonOf(client.getExtendedAgentCard());
    },
  ],
  'server: push.sign': [
    { delivered: false, retry: 'yes', reason: 'no answer within 50 ms' },
    () => {
      const { dependencies } = delivering({ sign: never, timeoutMs: 50 });
      const event = {
        statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } },
      };
      const request = { push: push('http://127.0.0.1:9/'), id: 'd', format: pushFormat, event };
      return attempt(request as never, dependencies, AbortSignal.timeout(50));
    },
  ],
  'client: credentials': [
    'TIMEOUT',
    () =>
      reasonOf(connect('http://localhost', { fetch: serving({}).fetch, credentials: never, timeoutMs: 50 })),
  ],
  'ag-ui: the function of an agent': [503, async () => (await agUiHandler(never).fetch(post({}))).status],
  'ai-sdk: the function of a chat': [503, async () => (await chatHandler(never).fetch(post({}))).status],
  'mcp: the function of a caller': [503, async () => (await mcpHandler(never).fetch(post({}))).status],
};
const soon = { timeouts: { storeMs: 50 }, logger: () => {} };

async function refusalOf(options: Partial<AgentServerOptions>, params = {}) {
  const client = await connect('http://localhost', {
    fetch: serving({ ...options, ...soon }).fetch,
    retry: false,
  });
  return reasonOf(client.listTasks(params));
}

it('a function that never settles holds nothing without end', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const results = Object.entries(asked).map(async ([name, [, use]]) => {
    const late = new Promise((resolve) => setTimeout(resolve, 8_000, 'no answer'));
    return [name, await Promise.race([use(), late])];
  });
  expect(await Promise.all(results)).toEqual(Object.entries(asked).map(([name, [result]]) => [name, result]));
});
