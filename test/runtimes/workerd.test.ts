import { json } from 'node:stream/consumers';
import { connect, textOf } from '@batonjs/client';
import type { TaskStatusUpdateEvent } from '@batonjs/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../kit/http/exchange.ts';
import { rpcBody, usual } from '../kit/http/known-tasks.ts';
import { said } from '../kit/http/wrong-sends.ts';
import { listen } from '../kit/listen.ts';
import { freePort } from '../kit/processes.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { serveInWorkerd } from './workerd.ts';

const gated = new URL('./gated-worker.ts', import.meta.url);

describe('in workerd, without modules of Node.js', () => {
  it('the agent of docs/serving/frameworks.md is served over both bindings, and streams', async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    await serveInWorkerd(new URL('../frameworks/worker.ts', import.meta.url), { port, publicUrl });
    for (const binding of ['JSONRPC', 'HTTP+JSON']) {
      const agent = await connect(publicUrl, { binding });
      const { task } = await agent.send('Ada');
      expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect(textOf(task?.artifacts?.[0])).toBe('Hello, Ada!');
      const kinds: string[] = [];
      for await (const event of agent.stream('Ada')) kinds.push(...Object.keys(event));
      expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
    }
  });

  it('a page whose name leads to the worker on this machine is refused, and a public worker has many names', async () => {
    const body = rpcBody('SendMessage', { message: said() });
    const ask = async (host: string, publicUrl: string) => {
      const port = await freePort();
      await serveInWorkerd(gated, { port, publicUrl });
      const headers = { ...usual, host };
      return (await exchange(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status;
    };
    expect(await ask('evil.example', 'http://localhost:8787')).toBe(403);
    expect(await ask('localhost:8787', 'http://localhost:8787')).toBe(200);
    expect(await ask('preview.example', 'https://gated.example')).toBe(200);
  });

  it('a turn goes on while the client is away, and its stream resumes without a loss', async () => {
    const port = await freePort();
    const proxy = await startTcpProxy(port);
    onTestFinished(() => proxy.close());
    const publicUrl = `http://127.0.0.1:${proxy.port}`;
    await serveInWorkerd(gated, { port, publicUrl });
    const agent = await connect(publicUrl);
    const said: unknown[] = [];
    for await (const { statusUpdate } of agent.stream('wait')) {
      if (!statusUpdate) continue;
      const text = textOf(statusUpdate.status.message);
      said.push(text || statusUpdate.status.state);
      if (text !== 'before') continue;
      proxy.cut();
      await fetch(`http://127.0.0.1:${port}/go`);
    }
    expect(said).toEqual(['before', 'after', 'TASK_STATE_COMPLETED']);
  });

  it('a client reads the stream of a task', async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    await serveInWorkerd(gated, { port, publicUrl });
    const events = (await (await fetch(`${publicUrl}/ask`)).json()) as object[];
    expect(events.flatMap(Object.keys)).toEqual(['task', 'statusUpdate', 'statusUpdate', 'statusUpdate']);
  });

  it('webhooks are posted to listed hosts, and a name that cannot be checked is refused', async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    await serveInWorkerd(gated, { port, publicUrl });
    const agent = await connect(publicUrl);
    const states: string[] = [];
    const tokens = new Set<unknown>();
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const hook = await listen(async (request, response) => {
      const { statusUpdate } = (await json(request)) as { statusUpdate?: TaskStatusUpdateEvent };
      states.push(String(statusUpdate?.status.state));
      tokens.add(request.headers['x-a2a-notification-token']);
      response.end();
      if (states.at(-1) === 'TASK_STATE_COMPLETED') resolve();
    });
    const to = (url: string) => ({ configuration: { taskPushNotificationConfig: { url, token: 'secret' } } });
    await agent.send('go', to(hook));
    await all;
    expect(states).toContain('TASK_STATE_WORKING');
    expect([...tokens]).toEqual(['secret']);
    for (const url of ['https://hooks.example.com/', 'http://10.0.0.1/', 'https://[::1]/'])
      await expect(agent.send('go', to(url))).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});
