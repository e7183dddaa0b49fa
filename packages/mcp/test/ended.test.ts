import { type AgentClient, connect } from '@batonjs/client';
import { completed } from '@batonjs/server';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { mcpHandler } from '../src/index.ts';
import { closedGate, mcpClient, serveAgent, serveMcp, textOf, versions } from './clients.ts';
import { skillsAgent } from './skills-agent.ts';

const endpoint = 'http://mcp.example/mcp';
const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

/** An MCP endpoint that keeps one session, and what a client before protocol 2026-07-28 does. */
async function serveOne() {
  const { agent } = await serveAgent(skillsAgent(closedGate()));
  const handler = mcpHandler(agent, { sessions: 1 });
  onTestFinished(() => handler.close());
  const ask = (method: string, session?: string | null, body?: object) =>
    handler.fetch(
      new Request(endpoint, {
        method,
        headers: {
          accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...(session && { 'mcp-session-id': session }),
        },
        ...(body && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) }),
      }),
    );
  const begin = async () => (await ask('POST', undefined, initialize)).headers.get('mcp-session-id');
  return { handler, ask, begin };
}

/** How many servers of the SDK are connected. Its sessions and requests have one each. */
function countServers() {
  const seen: Server[] = [];
  const { connect: open } = Server.prototype;
  const spy = vi.spyOn(Server.prototype, 'connect').mockImplementation(function (this: Server, transport) {
    seen.push(this);
    return open.call(this, transport);
  });
  onTestFinished(() => spy.mockRestore());
  return () => seen.filter(({ transport }) => transport !== undefined).length;
}

describe('a session that makes room for another', () => {
  it('ends with the streams that its client has open', async () => {
    const { ask, begin } = await serveOne();
    const events = await ask('GET', await begin());
    expect(events.status).toBe(200);
    const ended = events.text();
    const next = await begin();
    expect(await ended).toBe('');
    expect((await ask('GET', next)).status).toBe(200);
  });
});

it('no server stays open for a request that is refused, for a session that ended and after the end', async () => {
  const count = countServers();
  const { handler, ask, begin } = await serveOne();
  for (const body of [{ method: 'tools/list' }, { method: 'tools/call', params: { name: 'x' } }])
    expect((await ask('POST', undefined, body)).status).toBeGreaterThanOrEqual(400);
  expect(count()).toBe(0);
  expect((await ask('DELETE', await begin())).status).toBe(200);
  expect(count()).toBe(0);
  await begin();
  await begin();
  expect(count()).toBe(1);
  await handler.close();
  expect(count()).toBe(0);
});

describe.each(versions)('an error that clients are not shown, in MCP %s', (version) => {
  const canary = 'canary of /srv/agent/secrets.ts:12';

  it.each<[string, (agent: AgentClient) => Promise<AgentClient>]>([
    [
      'of the agent',
      ({ card }) =>
        connect('http://localhost', {
          retry: false,
          fetch: async (request) => {
            if (request.method === 'GET') return Response.json(card);
            const { id } = await request.json();
            return Response.json({ jsonrpc: '2.0', id, error: { code: -32_603, message: canary } });
          },
        }),
    ],
    [
      'of this process',
      async (agent) =>
        new Proxy(agent, {
          get(target, name) {
            if (name === 'stream' || name === 'send') throw new Error(canary);
            return Reflect.get(target, name);
          },
        }),
    ],
  ])('is seen by the operator alone: %s', async (_, broken) => {
    const { agent } = await serveAgent({
      card: {
        name: 'Test',
        description: 'For tests',
        skills: [{ id: 'one', name: 'One', description: 'Does it', tags: [] }],
      },
      async *agent() {
        yield completed();
      },
    });
    const { url, errors } = await serveMcp(await broken(agent));
    const client = await mcpClient(url, version);
    const result = await client.callTool({ name: 'one', arguments: { message: 'Go' } });
    expect([result.isError, textOf(result)]).toEqual([true, 'Internal error']);
    expect(errors.map(String).join()).toContain(canary);
  });
});
