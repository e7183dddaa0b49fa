import { completed, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { freePort } from '../../../../test/kit/processes.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { startBridge } from './bridge-process.ts';

/** An agent elsewhere that works until the test lets it end, and how often it was called. */
async function far() {
  const held = Promise.withResolvers<void>();
  const calls: string[] = [];
  const server = serve(
    async function* ({ text }) {
      calls.push(text);
      yield working('On it');
      await held.promise;
      yield completed(`Done: ${text}`);
    },
    { card: { name: 'Far', description: 'Works elsewhere' } },
  );
  return { url: await listen(nodeHandler(server)), calls, release: held.resolve };
}

describe('baton mcp over HTTP', () => {
  it('[R-MT-39, R-MT-41] that is told to end in the middle of a task ends its streams, and the next one goes on, with what it is set to', async () => {
    const { url, calls, release } = await far();
    const [home, port] = [temporaryFolder(), await freePort()];
    const args = ['-a', url, '--http', String(port), '--poll-interval', '50ms', '--retention', '1h'];
    const first = startBridge(args, home);
    const client = rawClient(await first.url());
    const { taskId, pollIntervalMs } = (await client.tool('Far', { message: 'Go' })).result;
    expect(pollIntervalMs).toBe(50);
    await expect.poll(async () => (await client.get(taskId)).result.statusMessage).toBe('On it');
    const leave = new AbortController();
    const { messages: listening } = await client.listen([taskId]);
    const { messages: left } = await client.listen([taskId], { signal: leave.signal });
    await listening.next();
    await left.next();
    // A host that leaves takes nothing with it.
    leave.abort();
    expect((await client.get(taskId)).result.status).toBe('working');
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const rest: unknown[] = [];
    for await (const message of listening) rest.push(message);
    expect(rest.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    expect(JSON.stringify(rest)).not.toContain('completed');

    const second = startBridge(args, home);
    await second.url();
    release();
    await expect.poll(async () => (await client.get(taskId)).result.status).toBe('completed');
    const { result } = await client.get(taskId);
    expect(result).toMatchObject({ pollIntervalMs: 50, result: { content: [{ text: 'Done: Go' }] } });
    expect(result.ttlMs).toBeGreaterThanOrEqual(3_600_000);
    expect(calls).toEqual(['Go']);
  });
});
