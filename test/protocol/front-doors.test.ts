import { createServer } from 'node:http';
import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { connect } from '@batonjs/client';
import { mcpHandler } from '@batonjs/mcp';
import type { Agent, AgentServer, Authenticate } from '@batonjs/server';
import { artifact, completed } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listenerOf, mounts, roads } from '../kit/http/mounts.ts';
import { listen } from '../kit/listen.ts';
import { say } from '../kit/rpc.ts';
import { type ServeOptions, serve } from '../kit/serve.ts';
import { everywhere } from './peer.ts';

const answer: Agent = async function* ({ text }) {
  yield artifact('answer', `You said ${text}`);
  yield completed();
};
const agent = (options?: ServeOptions) => serve(answer, options);

interface Door {
  readonly handle: AgentServer['handle'];
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** The protocols in front of an agent: how each is made, and a request that has the agent answer. */
const doors: Readonly<
  Record<string, readonly [(path: string, options?: ServeOptions) => Door | Promise<Door>, object]>
> = {
  'AG-UI': [
    (path, options) => agUiHandler(agent(options), { path }),
    { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hello' }] },
  ],
  'a chat': [
    (path, options) => chatHandler(agent(options), { path }),
    { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] },
  ],
  MCP: [
    async () => mcpHandler(await connect('http://localhost', { fetch: agent().fetch })),
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'Test',
        arguments: { message: 'Hello' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
  ],
};

const post = (url: string, body: object) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'Test',
    },
    body: JSON.stringify(body),
  });

describe.each(Object.entries(doors))('%s', (name, [open, body]) => {
  const opened = async (path: string) => {
    const door = await open(path);
    onTestFinished(() => door.close());
    return door;
  };

  it.each(roads)('is mounted on %s as an agent is', async (_road, mount) => {
    const url = await listen(createServer(await mount(await opened('/'))));
    const response = await post(`${url}/agent`, body);
    expect(await response.text()).toContain('You said Hello');
    expect(response.status).toBe(200);
  });

  it('has a `fetch` below a path, and says which path it saw', async () => {
    const url = await listen(createServer(listenerOf(await opened('/api/front'))));
    for (const end of ['', '/'])
      expect(await (await post(`${url}/api/front${end}`, body)).text()).toContain('You said Hello');
    if (name === 'MCP') return;
    for (const path of ['/api/front/a/b/c', '/api/frontier', '/api/other/x']) {
      const missed = await post(`${url}${path}`, body);
      expect([missed.status, await missed.text()]).toEqual([404, expect.stringContaining(path.slice(10))]);
    }
  });
});

describe('A request asks once who calls, and counts once', () => {
  const letters = [5, 100_000];
  const seen: unknown[] = [];
  const authenticate: Authenticate = ({ method, path, query, headers, remoteAddress }) => {
    seen.push([method, path, query.get('q'), headers['mcp-name'], remoteAddress !== undefined]);
    return { scope: 'ada' };
  };
  const limits = { callers: { requests: { limit: 1, perMs: 3_600_000 } } };

  it.each(['AG-UI', 'a chat'].flatMap((name) => letters.map((length) => [name, length] as const)))(
    '%s, of %i letters',
    async (name, length) => {
      const [open, body] = doors[name]!;
      const door = await open('/', { authenticate, limits });
      onTestFinished(() => door.close());
      const url = await listen(createServer(nodeHandler(door)));
      seen.length = 0;
      const long = JSON.parse(JSON.stringify(body).replace('Hello', 'x'.repeat(length)));
      const response = await post(`${url}?q=1`, long);
      expect(await response.text()).toContain('You said');
      expect(seen).toEqual([['POST', '/', '1', 'Test', true]]);
      const refused = await post(url, long);
      expect([refused.status, seen.length]).toEqual([429, 2]);
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    },
  );

  everywhere('A call', (open) => {
    it.each(letters)('of %i letters', async (length) => {
      const peer = await open(answer, { authenticate });
      const message = say('x'.repeat(length));
      // A WebSocket asks for its upgrade, too.
      await peer.call('ListTasks', {});
      seen.length = 0;
      await peer.call('SendMessage', { message });
      expect(seen).toHaveLength(1);
    });
  });
});

it.each(mounts)('%s refuses at once what is no handler', async (_name, mount) => {
  const mounting = async () => mount({ fetch: () => {} } as never);
  await expect(mounting()).rejects.toThrow(/takes an agent server, or a handler .*: .* no `handle`/);
});

it('a front door refuses at once what is no agent', () => {
  for (const make of [agUiHandler, chatHandler, mcpHandler] as const)
    for (const wrong of [{}, undefined, 'http://localhost'])
      expect(() => make(wrong as never)).toThrow(TypeError);
});

it('an error in a handler is logged, and its client reads nothing of it', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => log.mockRestore());
  const failing = () => Promise.reject(new Error('secret'));
  const handlers = [{ handle: failing }, chatHandler(failing), agUiHandler(failing), mcpHandler(failing)];
  for (const [n, handler] of handlers.entries()) {
    const url = await listen(createServer(nodeHandler(handler)));
    const answer = await post(url, doors['a chat']![1]);
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('secret')]);
    expect(log.mock.calls[n]).toEqual([expect.stringMatching(/^\[baton\]/), new Error('secret')]);
  }
});
