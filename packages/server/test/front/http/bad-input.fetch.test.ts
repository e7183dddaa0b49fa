import { describe, expect, it, vi } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type AgentServer, type AgentServerOptions, completed } from '../../../src/index.ts';

let server: AgentServer;

const start = (options: Partial<AgentServerOptions> = {}) => {
  server = serve(async function* () {
    yield completed();
  }, options);
};

const post = (body: BodyInit | null, path = '/', headers: Record<string, string> = {}) =>
  server.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body,
      duplex: 'half',
    } as RequestInit),
  );

const chunked = (chunks: Iterable<Uint8Array>, onCancel: () => void = () => {}) => {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: onCancel,
  });
};

describe('fetch', () => {
  it('asks for credentials before it reads much of a body that does not say how long it is', async () => {
    let asked = 0;
    start({
      authenticate: ({ headers }: { headers: Record<string, string | undefined> }) => {
        asked++;
        return headers.authorization ? { scope: 'a' } : undefined;
      },
    });
    const spaces = function* (pieces: number) {
      for (; pieces > 0; pieces--) yield new Uint8Array(10_000).fill(0x20);
    };
    let sent = 0;
    const counted = function* () {
      for (const piece of spaces(100)) {
        sent++;
        yield piece;
      }
    };
    expect((await post(chunked(counted()))).status).toBe(401);
    expect(sent).toBeLessThan(12);
    const known = await post(chunked(spaces(100)), '/', { authorization: 'x' });
    expect((await known.json()).error.code).toBe(-32700);
    expect(asked).toBe(2);
    const small = await post(chunked(spaces(2)));
    expect((await small.json()).error.code).toBe(-32700);
    expect(asked).toBe(2);
  });

  it('stops reading a body that never ends, and lets it go [R-OP-05]', async () => {
    start({ limits: { bodyBytes: 10_000 } });
    let sent = 0;
    let canceled = false;
    function* endless() {
      for (;;) {
        sent++;
        yield new Uint8Array(1_000);
      }
    }
    const response = await post(chunked(endless(), () => (canceled = true)));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(sent).toBeLessThan(20);
    await vi.waitFor(() => expect(canceled).toBe(true), 10_000);
    expect((await rpc(server, 'SendMessage', { message: say('hi') })).task.status.state).toMatch(/COMPLETED/);
  });

  it('takes a body that comes in pieces, cut inside of letters', async () => {
    start();
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: say('héé 任务 🚣') },
    });
    const bytes = new TextEncoder().encode(text);
    const response = await post(chunked(Array.from(bytes, (byte) => Uint8Array.of(byte))));
    const { result } = await response.json();
    expect(result.task.history[0].parts[0].text).toBe('héé 任务 🚣');
  });

  it.each([
    ['nothing', null, -32700],
    ['half a letter', Uint8Array.of(0x22, 0xe4, 0xbb, 0x22), -32700],
    ['half an object', '{"jsonrpc":', -32700],
    ['101 levels', `${'['.repeat(101)}${']'.repeat(101)}`, -32600],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, -32600],
    ['a batch', '[]', -32600],
  ])('refuses %s', async (_what, body, code) => {
    start();
    const response = await post(body);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
  });

  it('answers though the body breaks off, and reveals nothing of it', async () => {
    start();
    const broken = new ReadableStream({
      pull(controller) {
        controller.error(new Error('secret of the network'));
      },
    });
    const response = await post(broken);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      id: null,
      error: { code: -32700, message: 'The body ended too early' },
    });
    expect(text).not.toContain('secret');
  });

  it.each(['/rowing/tasks', '/row//tasks', '/ro', '/row/../tasks/x'])(
    'does not take %s for a path of its own below /row',
    async (path) => {
      start({ publicUrl: 'https://agents.example/row' });
      const response = await server.fetch(
        new Request(`https://agents.example${path}`, { headers: { 'a2a-version': '1.0' } }),
      );
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 404 } });
    },
  );

  it.each([
    ['/row/ng', 200],
    ['/row', 200],
    ['/rowing', 404],
  ])('has a card at %s, and none of a tenant beside /row: %i', async (path, status) => {
    start({
      publicUrl: 'https://agents.example/row',
      card: { name: 'Row', description: 'For tests', tenants: ['ng'] },
    });
    const url = `https://agents.example${path}/.well-known/agent-card.json`;
    expect((await server.fetch(new Request(url))).status).toBe(status);
  });
});
