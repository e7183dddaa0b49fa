import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  append,
  artifact,
  completed,
  createAgentServer,
  type Turn,
  type Updates,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientBundle } from '../../../test/browser/bundle.ts';
import { listen } from '../../../test/kit/listen.ts';
import { chromiumForTests, openChromium } from '../../../test/support/chromium.ts';
import { attachWebSocket } from '../src/index.ts';
import type * as Client from './browser-client.ts';

const executablePath = await chromiumForTests();

/** Counts, in steps that the page can tell apart. */
async function* count({ text, signal }: Turn): Updates {
  yield working('Counting');
  if (text === 'hold') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return;
  }
  yield artifact('numbers', '0');
  for (let number = 1; number <= 5; number++) yield append('numbers', ` ${number}`);
  yield completed('Counted');
}

/** A page in Chromium with the client, and an agent that lets its origin connect, if `isListed`. */
async function open(isListed = true) {
  const bundle = await clientBundle(join(import.meta.dirname, 'browser-client.ts'));
  const page = `<!doctype html><link rel="icon" href="data:,"><script type="module">${bundle}</script>`;
  const origin = await listen((_, response) => response.setHeader('content-type', 'text/html').end(page));
  const server = createAgentServer({
    card: {
      name: 'Counter',
      description: 'Counts',
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
    },
    agent: count,
    store: memoryStore(),
    cors: true,
    logger: () => {},
    authenticate: ({ headers }) => ({ scope: headers.cookie ?? headers['x-key'] ?? 'nobody' }),
  });
  const listener = createServer(nodeHandler(server));
  const endpoint = attachWebSocket(server, listener, { origins: isListed ? [origin] : [] });
  onTestFinished(async () => {
    await Promise.all([server.close({ graceMs: 0 }), endpoint.close({ graceMs: 0 })]);
  });
  const url = await listen(listener);
  const browser = await openChromium(executablePath!);
  onTestFinished(() => browser.close());
  const tab: Page = await browser.context.newPage();
  await tab.goto(origin);
  await tab.waitForFunction(() => 'baton' in globalThis);
  return { tab, url, endpoint, listener };
}

describe.skipIf(!executablePath)('the client in Chromium', () => {
  it('makes every kind of call on one connection [R-CB-08]', async () => {
    const { tab, url, endpoint } = await open();
    const shown = await tab.evaluate(async (address) => {
      const { connect, webSocketClient, textOf } = (globalThis as unknown as { baton: typeof Client }).baton;
      const agent = await connect(address, { bindings: [webSocketClient()] });
      const texts: string[] = [];
      const stream = agent.stream('go');
      for await (const { artifactUpdate } of stream)
        if (artifactUpdate) texts.push(textOf(artifactUpdate.artifact));
      const { task: held } = await agent.send('hold', { returnImmediately: true });
      const following = agent.follow(held!).result();
      await agent.cancelTask({ id: held!.id });
      const failure = await agent.getTask({ id: 'none' }).catch((error) => error.reason);
      return {
        binding: agent.interface.protocolBinding,
        texts,
        state: stream.task?.status.state,
        canceled: (await following).task?.status.state,
        failure,
        total: (await agent.listTasks()).totalSize,
      };
    }, url);
    expect(shown).toEqual({
      binding: 'https://batonjs.dev/bindings/websocket/v1',
      texts: ['0', ' 1', ' 2', ' 3', ' 4', ' 5'],
      state: 'TASK_STATE_COMPLETED',
      canceled: 'TASK_STATE_CANCELED',
      failure: 'TASK_NOT_FOUND',
      total: 2,
    });
    expect(endpoint.connections).toBe(1);
  });

  it('goes on with a stream whose connection broke', async () => {
    const { tab, url, listener } = await open();
    let upgrades = 0;
    listener.on('upgrade', (_, socket) => {
      upgrades += 1;
      // The first one breaks once its task is there.
      if (upgrades === 1) setTimeout(() => socket.destroy(), 500);
    });
    const shown = await tab.evaluate(async (address) => {
      const { connect, webSocketClient } = (globalThis as unknown as { baton: typeof Client }).baton;
      const agent = await connect(address, { bindings: [webSocketClient()], retry: { firstMs: 10 } });
      const stream = agent.stream('hold');
      for await (const { statusUpdate } of stream) {
        if (statusUpdate?.status.state !== 'TASK_STATE_WORKING') continue;
        const { id } = stream.task!;
        // The stream is read on only when its connection is gone.
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await agent.cancelTask({ id });
      }
      return stream.task?.status.state;
    }, url);
    expect(shown).toBe('TASK_STATE_CANCELED');
    expect(upgrades).toBeGreaterThan(1);
  });

  it('of a page that is not listed is refused, and says that a browser sends no headers [R-WS-33]', async () => {
    const { tab, url, endpoint } = await open(false);
    const failures = await tab.evaluate(async (address) => {
      const { connect, webSocketClient } = (globalThis as unknown as { baton: typeof Client }).baton;
      const failureOf = async (headers: Record<string, string>) => {
        const agent = await connect(address, { bindings: [webSocketClient()], retry: false, headers });
        const error = await agent.listTasks().catch((reason) => reason);
        return [error.code ?? error.reason, error.message];
      };
      return [await failureOf({}), await failureOf({ 'X-Key': 'ada' })];
    }, url);
    expect(failures).toEqual([
      ['NETWORK', expect.stringContaining('cannot be reached')],
      ['UNSUPPORTED_OPERATION', expect.stringContaining('cannot send the headers x-key')],
    ]);
    expect(endpoint.connections).toBe(0);
  });
});
