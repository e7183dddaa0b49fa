import { type ConnectOptions, connect, type RetryOptions } from '@batonjs/client';
import type { OptionNames } from '@batonjs/protocol/options';
import { completed, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOf, serve } from '../serve.ts';

const every: OptionNames<ConnectOptions> = {
  ...{ fetch: true, bindings: true, compatibility: true, binding: true, version: true, fallback: true },
  ...{ extensions: true, headers: true, trustedOrigins: true, credentials: true, timeoutMs: true },
  ...{ maxResponseBytes: true, maxEventBytes: true, followForMs: true, retry: true, verifyCard: true },
  ...{ checkCapabilities: true, cards: true, telemetry: true, clock: true },
};
const ofRetry: OptionNames<RetryOptions> = {
  ...{ attempts: true, sendForMs: true, firstMs: true, longestMs: true, budget: true },
};

function agentServer() {
  const server = createAgentServer({
    card: { name: 'Peer', description: 'Answers' },
    agent: async function* () {
      yield completed();
    },
    store: memoryStore(),
  });
  onTestFinished(() => server.close());
  return server;
}

describe('an option that is undefined is as good as left out:', () => {
  it.each([
    ...Object.keys(every).map((name) => [name, { [name]: undefined }] as const),
    ...Object.keys(ofRetry).map((name) => [`retry.${name}`, { retry: { [name]: undefined } }] as const),
    ['clock.sleep', { clock: { sleep: undefined, now: undefined, random: undefined } }] as const,
  ])('%s', async (_, given) => {
    const server = agentServer();
    const failing = { left: 1 };
    const { url } = await serve(async (request, response, body) => {
      // The first call fails, so that the options of retries are used.
      if (request.method === 'POST' && failing.left-- > 0) return response.writeHead(503).end();
      const asked = new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method!,
        headers: request.headers as Record<string, string>,
        ...(body && { body }),
      });
      const { status, headers, body: answer } = await server.fetch(asked);
      response.writeHead(status, Object.fromEntries(headers)).end(await new Response(answer).text());
    });
    const agent = await connect(url, { retry: { firstMs: 1 }, ...given } as ConnectOptions);
    await expect(agent.listTasks({})).resolves.toMatchObject({ tasks: [] });
    await expect(agent.stream('Hi').result()).resolves.toMatchObject({
      task: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
  });
});

describe('what the network did not throw is thrown as it is, and not tried again:', () => {
  const bug = new TypeError('x is not a function');
  const fails = () => {
    throw bug;
  };
  it.each<[what: string, options: ConnectOptions]>([
    ['a binding', { bindings: [{ name: 'JSONRPC', version: '1.0', encodeCall: fails } as never] }],
    ['a cache of cards', { cards: { get: () => undefined, set: fails } as never }],
  ])('%s', async (_, options) => {
    const { fetch } = agentServer();
    const use = async () => {
      const agent = await connect('http://localhost', { fetch, ...options });
      await agent.listTasks({});
    };
    expect(await failureOf(use())).toBe(bug);
  });

  it.each(['call', 'stream'] as const)('a header that cannot be sent, of a %s', async (kind) => {
    const { fetch } = agentServer();
    const agent = await connect('http://localhost', { fetch });
    const options = { headers: { 'x-name': 'a\nb' } };
    const used = kind === 'call' ? agent.listTasks({}, options) : agent.stream('Hi', options).result();
    expect(await failureOf(used)).toBeInstanceOf(TypeError);
  });
});
