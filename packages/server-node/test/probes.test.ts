import type { ServerResponse } from 'node:http';
import { completed, working } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { listenProbes } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';

type Probed = Parameters<typeof listenProbes>[0];

async function probed(process: Probed, options: Parameters<typeof listenProbes>[1] = {}) {
  const probes = await listenProbes(process, options);
  onTestFinished(() => probes.close());
  return async (path: string) => {
    const response = await fetch(probes.url + path);
    return [response.status, (await response.text()).trim()];
  };
}

const agent = async function* () {
  yield completed();
};

describe('probes', () => {
  it('tell a process that lives, has started and is ready, a server or a worker', async () => {
    const worker = createWorker({ agent, store: memoryStore() });
    onTestFinished(() => worker.close());
    for (const process of [serve(agent), worker]) {
      const get = await probed(process);
      expect(await get('/livez')).toEqual([200, 'alive']);
      expect(await get('/startupz')).toEqual([200, 'ready']);
      expect(await get('/readyz?verbose')).toEqual([200, 'ready']);
      expect(await get('/startupz')).toEqual([200, 'started']);
      expect(await get('/metrics')).toEqual([404, 'not found']);
      expect(await get('/')).toEqual([404, 'not found']);
    }
  });

  it('do not restart a process whose store is away, and say nothing of where it is', async () => {
    let isAway = true;
    const store = memoryStore();
    const ping = async () => {
      if (isAway) throw Object.assign(new Error('secret-host:6379 refused'), { trouble: 'read-only' });
    };
    const get = await probed(serve(agent, { store: { ...store, probe: undefined, ping } as typeof store }));
    expect(await get('/readyz')).toEqual([503, 'read-only']);
    expect(await get('/startupz')).toEqual([503, 'read-only']);
    expect(await get('/livez')).toEqual([200, 'alive']);
    isAway = false;
    await vi.waitFor(async () => expect(await get('/readyz')).toEqual([200, 'ready']));
    isAway = true;
    await vi.waitFor(async () => expect(await get('/readyz')).toEqual([503, 'read-only']));
    expect(await get('/startupz')).toEqual([200, 'started']);
  });

  it('say that a process drains, until its last turn has ended', async () => {
    const held = Promise.withResolvers<void>();
    const server = serve(async function* () {
      yield working();
      await held.promise;
      yield completed();
    });
    const get = await probed(server);
    await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } });
    await vi.waitFor(() => expect(server.load.turns).toBe(1));
    expect(await get('/readyz')).toEqual([200, 'ready']);
    const closed = server.close({ graceMs: 60_000 });
    expect(await get('/readyz')).toEqual([503, 'closing']);
    expect(await get('/livez')).toEqual([200, 'alive']);
    held.resolve();
    await closed;
    expect(await get('/readyz')).toEqual([503, 'closing']);
  });

  it('serve metrics where they are given, and refuse an option that does not exist', async () => {
    const node = (_: unknown, response: { end(text: string): unknown }) => response.end('numbers');
    const get = await probed(serve(agent), { metrics: { node } });
    expect(await get('/metrics')).toEqual([200, 'numbers']);
    // @ts-expect-error: misspelt.
    await expect(listenProbes(serve(agent), { prot: 1 })).rejects.toThrow(TypeError);
  });

  it('answer 500 where the metrics cannot be read, and break off an answer that has begun', async () => {
    let hasBegun = false;
    const node = async (_: unknown, response: ServerResponse) => {
      if (hasBegun) response.writeHead(200).write('half');
      throw new Error('secret of the store');
    };
    const probes = await listenProbes(serve(agent), { metrics: { node } });
    onTestFinished(() => probes.close());
    const response = await fetch(`${probes.url}/metrics`);
    expect([response.status, await response.text()]).toEqual([500, '']);
    hasBegun = true;
    const broken = fetch(`${probes.url}/metrics`).then((answer) => answer.text());
    await expect(broken).rejects.toThrow(/terminated|fetch failed/);
    // The port goes on.
    expect((await fetch(`${probes.url}/livez`)).status).toBe(200);
  });

  it('leave nothing behind of a client that leaves while its metrics are read', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    const left = Promise.withResolvers<void>();
    const node = async (_: unknown, response: ServerResponse) => {
      response.on('close', () => left.resolve());
      asked.resolve(response);
      await left.promise;
      response.end('too late');
    };
    const probes = await listenProbes(serve(agent), { metrics: { node } });
    onTestFinished(() => probes.close());
    const leave = new AbortController();
    const reading = fetch(`${probes.url}/metrics`, { signal: leave.signal }).catch(
      (error: Error) => error.name,
    );
    await asked.promise;
    leave.abort();
    expect(await reading).toBe('AbortError');
    await left.promise;
    expect((await fetch(`${probes.url}/livez`)).status).toBe(200);
  });

  it('are kept by nobody: what they say is of this moment', async () => {
    const probes = await listenProbes(serve(agent), { host: '127.0.0.1', port: 0 });
    onTestFinished(() => probes.close());
    const { headers } = await fetch(`${probes.url}/readyz`);
    expect([headers.get('cache-control'), headers.get('content-type')]).toEqual([
      'no-store',
      'text/plain; charset=utf-8',
    ]);
  });

  it('tell where this machine reaches them, whatever they listen on', async () => {
    for (const [host, name] of [
      ['127.0.0.1', '127.0.0.1'],
      ['0.0.0.0', '127.0.0.1'],
      ['localhost', 'localhost'],
    ] as const) {
      const probes = await listenProbes(serve(agent), { host });
      onTestFinished(() => probes.close());
      expect(new URL(probes.url).hostname).toBe(name);
      expect((await fetch(`${probes.url}/livez`)).status).toBe(200);
    }
    const taken = await listenProbes(serve(agent));
    onTestFinished(() => taken.close());
    const port = Number(new URL(taken.url).port);
    await expect(listenProbes(serve(agent), { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('leave the port once they are closed, with a client that holds its connection', async () => {
    const probes = await listenProbes(serve(agent));
    await fetch(`${probes.url}/livez`, { keepalive: true });
    await probes.close();
    await probes.close();
    await expect(fetch(`${probes.url}/livez`)).rejects.toThrow();
  });
});
