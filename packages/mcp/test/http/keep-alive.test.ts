import { working } from '@batonjs/server';
import { expect, it, onTestFinished } from 'vitest';
import { holdTimers } from '../../../../test/kit/held-timers.ts';
import { rawRequest } from '../../../../test/kit/http/raw-mcp-client.ts';
import { mcpHandler } from '../../src/index.ts';
import { serveAgent } from '../clients.ts';

it('a stream that tells of tasks has a comment every 15 s, so that proxies keep it, until it ends', async () => {
  const timers = holdTimers((ms) => ms === 15_000);
  // That of the agent's own stream holds no process.
  const open = () => timers.open().filter((timer) => timer.endsWith('held'));
  const { agent } = await serveAgent({
    card: { name: 'Test', description: 'For tests' },
    async *agent() {
      yield working('On it');
      await new Promise(() => {});
    },
  });
  const handler = mcpHandler(agent);
  onTestFinished(() => handler.close());
  const { task } = await agent.send('Go', { returnImmediately: true });
  const request = rawRequest('http://localhost/mcp', 'subscriptions/listen', {
    notifications: { taskIds: [task?.id] },
  });
  const { body } = await handler.fetch(request);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let read = '';
  const until = async (words: string, times: number) => {
    while (read.split(words).length <= times) read += (await reader.read()).value ?? '';
  };
  await until('"status":"working"', 1);
  expect(open()).toHaveLength(1);
  for (const times of [1, 2]) {
    timers.fire(15_000);
    await until(': keepalive\n\n', times);
  }
  await handler.close();
  expect(open()).toEqual([]);
  await reader.cancel();
});
