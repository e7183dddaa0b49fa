import { createServer, request } from 'node:http';
import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { connect } from '@batonjs/client';
import { mcpHandler } from '@batonjs/mcp';
import { type Agent, type AgentServerOptions, createAgentServer, reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../kit/closed-after-test.ts';
import { type Mount, mounts, roads } from '../../kit/http/mounts.ts';
import { listen } from '../../kit/listen.ts';

// A page of `evil.example` whose name leads to 127.0.0.1 is of the same origin as a server there: CORS does not apply.

const foreign = 'evil.example:4000';

interface Served {
  readonly url: string;
  /** The texts that reached the agent. */
  readonly reached: string[];
}

async function serve(
  mount: Mount,
  options: Partial<AgentServerOptions> = {},
  trusted = false,
): Promise<Served> {
  const reached: string[] = [];
  const agent: Agent = ({ text }) => {
    reached.push(text);
    return reply(text);
  };
  const card = { name: 'Echo', description: 'Says it again' };
  const server = createAgentServer({ card, agent, store: memoryStore(), logger: () => {}, ...options });
  closedAfterTest(server);
  const url = await listen(createServer(await mount(server, { path: '/agent', trusted })));
  return { url: `${url}/agent`, reached };
}

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly body: any;
}

/** Not with `fetch`, which does not send a `Host` of the test. */
const ask = (url: string, host: string, body?: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { host, 'a2a-version': '1.0', 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(url, { method, headers, agent: false }, async (response) => {
      const text = (await response.toArray()).join('');
      // The refusals of a chat are sentences.
      resolve({ status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text });
    });
    sent.on('error', reject).end(body === undefined ? '' : JSON.stringify(body));
  });

const params = { message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] } };
const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };

describe.each(roads)('an agent without `authenticate` on loopback, by %s', (name, mount: Mount) => {
  const seesConnection = mounts.some(([known]) => known === name);

  it('serves nothing under a name that is not of this machine', async () => {
    const { url, reached } = await serve(mount);
    const refused = { status: 403, body: { error: { message: expect.stringContaining('publicUrl') } } };
    for (const path of ['/tasks', '/tasks/x', '/.well-known/agent-card.json'])
      expect(await ask(`${url}${path}`, foreign)).toMatchObject(refused);
    expect(await ask(`${url}/message:send`, foreign, params)).toMatchObject(refused);
    const answer = await ask(url, foreign, rpc);
    expect(answer.body.error.data[0]).toMatchObject({ reason: 'PERMISSION_DENIED' });
    expect(reached).toEqual([]);
  });

  it.each(['localhost:4000', 'agents.localhost', '127.1.2.3:4000', '[::1]:4000', 'LOCALHOST'])(
    'serves %s',
    async (host) => {
      const { url, reached } = await serve(mount);
      expect((await ask(`${url}/message:send`, host, params)).status).toBe(200);
      expect(reached).toEqual(['Hello']);
    },
  );

  it('serves no foreign name where `publicUrl` is on this machine', async () => {
    for (const publicUrl of ['http://localhost:4000/agent', 'http://127.0.0.1/agent', 'http://[::1]/agent']) {
      const { url } = await serve(mount, { publicUrl });
      expect((await ask(`${url}/tasks`, foreign)).status).toBe(403);
      expect((await ask(`${url}/tasks`, 'localhost')).status).toBe(200);
    }
  });

  // Elsewhere an agent may have several names, and a caller there needs no page.
  const others = seesConnection ? 403 : 200;
  it(`serves the host of \`publicUrl\`, ${seesConnection ? 'and no other' : 'and others where it is elsewhere'}`, async () => {
    const { url } = await serve(mount, { publicUrl: 'https://agent.example/agent' });
    for (const [host, status] of [
      ['agent.example', 200],
      ['Agent.example:8443', 200],
      ['agent.example.evil.example', others],
      [foreign, others],
    ] as const)
      expect([host, (await ask(`${url}/tasks`, host)).status]).toEqual([host, status]);
  });

  // `server.fetch` trusts no proxy.
  if (name !== '`server.fetch`')
    it('serves the host that a trusted proxy sets', async () => {
      const { url } = await serve(mount, {}, true);
      expect((await ask(`${url}/tasks`, 'agent.example')).status).toBe(200);
    });

  it('leaves it to `authenticate` if there is one: the page has no credentials', async () => {
    const { url } = await serve(mount, {
      authenticate: ({ headers }) => (headers.host === foreign ? { scope: 'ada' } : undefined),
    });
    expect((await ask(`${url}/tasks`, foreign)).status).toBe(200);
  });
});

/** A handler for requests that come over a network, as those through the published port of a container do. */
async function overNetwork(handler: Parameters<typeof nodeHandler>[0]): Promise<string> {
  const handle = nodeHandler(handler);
  return listen(
    createServer((req, res) => {
      Object.defineProperty(req.socket, 'remoteAddress', { value: '172.17.0.1' });
      handle(req, res);
    }),
  );
}

const echo = (options: Partial<AgentServerOptions> = {}) =>
  closedAfterTest(
    createAgentServer({
      ...{ card: { name: 'Echo', description: 'Says it again' }, agent: () => reply('x') },
      ...{ store: memoryStore(), logger: () => {}, ...options },
    }),
  );

describe('over a network, an agent without `authenticate`', () => {
  const publicUrl = 'http://localhost:4000';

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, options: Partial<AgentServerOptions>, host: string, status: number]>([
    ['whose `publicUrl` is on this machine serves no page elsewhere', { publicUrl }, foreign, 403],
    ['… and this machine', { publicUrl }, 'localhost:4000', 200],
    ['… and an address of the network', { publicUrl }, '192.168.1.5:4000', 200],
    ['… and an address of IPv6', { publicUrl }, '[fd00::5]:4000', 200],
    ['… and a service of its cluster or of compose', { publicUrl }, 'agent:4000', 200],
    ['… and one below its domain', { publicUrl }, 'agent.default.svc.cluster.local', 200],
    ['… and a host of a cloud', { publicUrl }, 'agent.internal:4000', 200],
    ['… but no name that begins like an address', { publicUrl }, '192.168.1.5.evil.example', 403],
    ['without `publicUrl` serves any name, such as the default of nginx', {}, 'upstream.example', 200],
    ['elsewhere serves any name', { publicUrl: 'https://agent.example' }, 'other.example', 200],
    ['serves any name if it has `authenticate`', { publicUrl, authenticate: () => ({ scope: 'ada' }) }, foreign, 200],
  ])('%s', async (_, options, host, status) => {
    const url = await overNetwork(echo(options));
    expect((await ask(`${url}/tasks`, host)).status).toBe(status);
  });
});

describe.each([
  ['AG-UI', agUiHandler],
  ['`useChat`', chatHandler],
] as const)('a front door for %s', (_, doorOf) => {
  /** Whether a request came further than the check of its host. */
  const isRefused = async (url: string, host: string) => {
    const { status } = await ask(url, host);
    expect([403, 404, 405]).toContain(status);
    return status === 403;
  };
  const local = (agent: Parameters<typeof doorOf>[0]) => listen(createServer(nodeHandler(doorOf(agent))));

  it('refuses a page as its server does', async () => {
    for (const publicUrl of [undefined, 'https://agent.example', 'http://localhost:4000']) {
      const server = echo(publicUrl === undefined ? {} : { publicUrl });
      const url = await local(server);
      expect([publicUrl, await isRefused(url, foreign)]).toEqual([publicUrl, true]);
      expect(await isRefused(url, 'localhost')).toBe(false);
    }
    const published = await overNetwork(doorOf(echo({ publicUrl: 'http://localhost:4000' })));
    expect(await isRefused(published, foreign)).toBe(true);
    expect(await isRefused(published, '192.168.1.5:4000')).toBe(false);
    const known = await local(echo({ publicUrl: 'https://agent.example' }));
    expect(await isRefused(known, 'agent.example')).toBe(false);
  });

  it('refuses a page where all callers have one client, and leaves it to a function and to `authenticate`', async () => {
    const server = echo();
    const client = await connect('http://localhost', { fetch: server.fetch });
    expect(await isRefused(await local(client), foreign)).toBe(true);
    expect(await isRefused(await local(client), 'localhost:4000')).toBe(false);
    expect(await isRefused(await local(() => client), foreign)).toBe(false);
    const named = echo({ authenticate: () => ({ scope: 'ada' }) });
    expect(await isRefused(await local(named), foreign)).toBe(false);
  });
});

it('MCP refuses a page where all callers have one client', async () => {
  const client = await connect('http://localhost', { fetch: echo().fetch });
  const statusOf = async (agent: Parameters<typeof mcpHandler>[0], origin?: string) => {
    const headers = { 'content-type': 'application/json', ...(origin && { origin }) };
    const { fetch } = mcpHandler(agent);
    return (await fetch(new Request('http://localhost/', { method: 'POST', headers, body: '{}' }))).status;
  };
  for (const origin of [`http://${foreign}`, 'null']) expect(await statusOf(client, origin)).toBe(403);
  for (const origin of [undefined, 'http://localhost:6274', 'http://192.168.1.5'])
    expect(await statusOf(client, origin)).not.toBe(403);
  expect(await statusOf(() => ({ caller: 'ada', agent: client }), `http://${foreign}`)).not.toBe(403);
});

it('a page that leaves at once gets no further: its connection has no address any more', async () => {
  const card = { name: 'Echo', description: 'Says it again' };
  const server = closedAfterTest(
    createAgentServer({ card, agent: () => reply('x'), store: memoryStore(), logger: () => {} }),
  );
  const answered = Promise.withResolvers<number>();
  const watched = nodeHandler({
    async handle(exchange) {
      const answer = await server.handle(exchange);
      answered.resolve(answer.status);
      return answer;
    },
  });
  const url = await listen(
    createServer((req, res) => {
      req.socket.once('close', () => watched(req, res));
      req.socket.destroy();
    }),
  );
  const asking = ask(`${url}/tasks`, foreign).catch(() => {});
  expect(await answered.promise).toBe(403);
  await asking;
});
