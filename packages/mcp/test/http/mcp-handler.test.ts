import { setImmediate } from 'node:timers/promises';
import { A2AError, ClientError } from '@batonjs/client';
import { reply } from '@batonjs/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collect } from '../../../../test/kit/collect.ts';
import { refusal } from '../../src/http/mcp-handler.ts';
import { type McpHandlerOptions, mcpHandler } from '../../src/index.ts';
import { serveAgent } from '../clients.ts';

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

const send = (session?: string | null, body: object | undefined = initialize, method = 'POST') =>
  new Request('http://mcp.example/mcp', {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(session && { 'mcp-session-id': session }),
    },
    ...(method === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) }),
  });

async function serve(options?: McpHandlerOptions) {
  const { agent } = await serveAgent({ card: { name: 'A', description: 'B' }, agent: () => reply('C') });
  const handler = mcpHandler(agent, options);
  onTestFinished(() => handler.close());
  return handler;
}

describe('an endpoint of MCP', () => {
  it('is answered JSON-RPC for a session that is not there', async () => {
    const { fetch } = await serve();
    const response = await fetch(send('gone', { method: 'tools/list' }));
    expect([response.status, await response.json()]).toEqual([
      404,
      { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } },
    ]);
  });

  it('refuses a request of JSON without a body', async () => {
    const { fetch } = await serve();
    const { headers } = send();
    const response = await fetch(new Request('http://mcp.example/mcp', { method: 'POST', headers }));
    expect(response.status).toBe(400);
  });

  it('forgets a session that its client ends', async () => {
    const { fetch } = await serve();
    const id = (await fetch(send())).headers.get('mcp-session-id');
    expect(id).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    expect((await fetch(send(id, { method: 'ping' }))).status).toBe(200);
    expect((await fetch(send(id, undefined, 'DELETE'))).status).toBe(200);
    expect((await fetch(send(id, { method: 'ping' }))).status).toBe(404);
  });

  it('counts no session that its client ended', async () => {
    const { fetch } = await serve({ sessions: 2 });
    const begin = async () => (await fetch(send())).headers.get('mcp-session-id');
    const first = await begin();
    await fetch(send(await begin(), undefined, 'DELETE'));
    await begin();
    expect((await fetch(send(first, { method: 'ping' }))).status).toBe(200);
  });

  it('ends the stream of a client that leaves although nothing holds its request any more', async () => {
    const { fetch } = await serve();
    const id = (await fetch(send())).headers.get('mcp-session-id');
    const leaving = new AbortController();
    const opened = async () => (await fetch(new Request(send(id, undefined, 'GET'), leaving))).body!;
    const reading = (await opened()).getReader().read();
    await setImmediate();
    collect({ type: 'major' });
    leaving.abort();
    await expect(reading).rejects.toThrow('aborted');
  });

  it('takes no request after its end', async () => {
    const handler = await serve();
    const id = (await handler.fetch(send())).headers.get('mcp-session-id');
    await handler.close();
    expect((await handler.fetch(send(id, { method: 'ping' }))).status).toBe(404);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'has no bound of %s bytes or sessions',
    async (bound) => {
      for (const name of ['bodyBytes', 'sessions'])
        await expect(serve({ [name]: bound })).rejects.toThrow(
          new RangeError(`${name} is an integer above 0, not ${bound}`),
        );
    },
  );

  it('takes a bound of one byte, which no request keeps', async () => {
    const { fetch } = await serve({ bodyBytes: 1 });
    expect((await fetch(send())).status).toBe(413);
  });
});

it('an error of the SDK is seen by the operator', async () => {
  const { agent } = await serveAgent({ card: { name: 'A', description: 'B' }, agent: () => reply('C') });
  const broken = Object.create(agent, {
    card: {
      get() {
        throw new Error('secret');
      },
    },
  });
  const errors: unknown[] = [];
  const handler = mcpHandler(broken, { onError: (error) => errors.push(error) });
  onTestFinished(() => handler.close());
  const response = await handler.fetch(modern('tools/list'));
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('secret')]);
  expect(String(errors)).toContain('secret');
});

/** A request of protocol 2026-07-28. */
const modern = (method: string) => {
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const request = send(undefined, { method, params: { _meta: meta } });
  request.headers.set('mcp-protocol-version', version);
  request.headers.set('mcp-method', method);
  return request;
};

describe('the reply to a caller who is refused', () => {
  it.each<[unknown, number, number, string, Record<string, string>, boolean]>([
    [new A2AError('UNAUTHENTICATED', 'Who?'), 401, -32_600, 'Who?', { 'www-authenticate': 'Bearer' }, false],
    [
      new A2AError('UNAUTHENTICATED', 'Who?', { challenge: 'Basic' }),
      401,
      -32_600,
      'Who?',
      { 'www-authenticate': 'Basic' },
      false,
    ],
    [new A2AError('PERMISSION_DENIED', 'No'), 403, -32_600, 'No', {}, false],
    [
      new A2AError('RESOURCE_EXHAUSTED', 'Later', { retryAfter: 0 }),
      429,
      -32_603,
      'Later',
      { 'retry-after': '0' },
      false,
    ],
    [new A2AError('UNAVAILABLE', 'Down'), 503, -32_603, 'Down', {}, true],
    [new A2AError('INTERNAL_ERROR', 'secret'), 500, -32_603, 'Internal error', {}, true],
    [new A2AError('NONE' as never, 'secret'), 500, -32_603, 'Internal error', {}, true],
    [new ClientError('NETWORK', 'secret'), 502, -32_603, 'The agent cannot be called (NETWORK)', {}, true],
    [new Error('secret'), 500, -32_603, 'Internal error', {}, true],
    [undefined, 500, -32_603, 'Internal error', {}, true],
  ])('with %s is %i', async (error, status, code, message, headers, isNoted) => {
    const noted: unknown[] = [];
    const response = refusal(error, (each) => noted.push(each));
    const { error: given, ...rest } = await response.json();
    expect([response.status, rest]).toEqual([status, { jsonrpc: '2.0', id: null }]);
    expect(given).toEqual({ code, message });
    const { 'content-type': type, ...others } = Object.fromEntries(response.headers);
    expect([type, others]).toEqual(['application/json', headers]);
    expect(noted).toEqual(isNoted ? [error] : []);
  });
});
