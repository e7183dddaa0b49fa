import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../src/http/listen.ts';
import type { McpHandler } from '../../src/http/mcp-handler.ts';

/** A server at an address until the test ends, and the status of a request with these headers. */
async function serve(host = '127.0.0.1', allowedHosts: readonly string[] = []) {
  const seen: string[] = [];
  let closed = 0;
  const handler: Pick<McpHandler, 'fetch' | 'close'> = {
    async fetch({ url }) {
      seen.push(new URL(url).pathname);
      return new Response('answered');
    },
    async close() {
      closed += 1;
    },
  };
  const listening = await listen(handler, { port: 0, host, allowedHosts });
  const { port } = new URL(listening.url);
  const close = () => listening.close();
  onTestFinished(close);
  const ask = (headers: Record<string, string>, path = '/mcp') =>
    new Promise<number>((resolve, reject) => {
      const sent = request({ host, port, path, method: 'POST', headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
      });
      sent.on('error', reject).end('{}');
    });
  return { url: listening.url, port, ask, seen, close, timesClosed: () => closed };
}

describe('the server of the program', () => {
  it('answers under the names of this machine and those that are allowed, and under no others', async () => {
    const { ask, seen, port } = await serve('127.0.0.1', ['mcp.example']);
    for (const host of [`127.0.0.1:${port}`, 'localhost', '[::1]:1', 'mcp.example:80'])
      expect([host, await ask({ host })]).toEqual([host, 200]);
    for (const host of ['evil.example', 'mcp.example.evil.example', 'sub.mcp.example'])
      expect([host, await ask({ host })]).toEqual([host, 403]);
    expect(seen).toHaveLength(4);
  });

  it('answers pages of those names, and no others', async () => {
    const { ask, seen } = await serve('127.0.0.1', ['mcp.example']);
    for (const origin of ['http://localhost:3000', 'https://mcp.example'])
      expect([origin, await ask({ origin })]).toEqual([origin, 200]);
    for (const origin of ['https://evil.example', 'null'])
      expect([origin, await ask({ origin })]).toEqual([origin, 403]);
    expect(seen).toHaveLength(2);
  });

  it('serves /mcp, with any query, and nothing else', async () => {
    const { ask, seen } = await serve();
    expect(await Promise.all(['/mcp?a=b', '/', '/mcp/', '/other'].map((path) => ask({}, path)))).toEqual([
      200, 404, 404, 404,
    ]);
    expect(seen).toEqual(['/mcp']);
  });

  it('says its address, also one of IPv6', async () => {
    expect((await serve()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const { url, ask } = await serve('::1');
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/mcp$/);
    expect(await ask({})).toBe(200);
  });

  it('closes its connections and the handler', async () => {
    const { url, close, timesClosed } = await serve();
    // Node keeps the connection for the next request.
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(200);
    await close();
    expect(timesClosed()).toBe(1);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('does not wait for a request that its handler never answers', async () => {
    const began = Promise.withResolvers<void>();
    const handler: Pick<McpHandler, 'fetch' | 'close'> = {
      fetch() {
        began.resolve();
        return new Promise(() => {});
      },
      close: async () => {},
    };
    const { url, close } = await listen(handler, { port: 0, host: '127.0.0.1', allowedHosts: [] });
    const asked = fetch(url, { method: 'POST', body: '{}' });
    asked.catch(() => {});
    await began.promise;
    await close();
    await expect(asked).rejects.toThrow('fetch failed');
  });

  it('rejects for a port that is taken', async () => {
    const { port } = await serve();
    const handler = { fetch: async () => new Response(), close: async () => {} };
    await expect(
      listen(handler, { port: Number(port), host: '127.0.0.1', allowedHosts: [] }),
    ).rejects.toThrow('EADDRINUSE');
  });
});
