import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  extend,
  formInput,
  inputRequired as formRequired,
  skill,
  taskError,
  typedSkills,
} from '@batonjs/extensions';
import {
  type Agent,
  artifact,
  completed,
  data,
  failed,
  inputRequired,
  reply,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { freePort } from '../../../../test/kit/processes.ts';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { cli } from '../cli.ts';
import { startBridge } from './bridge-process.ts';

const card = { name: 'Far', description: 'Works elsewhere' };

/** An agent elsewhere, whose tasks are in memory. */
const serveFar = (agent: Agent, options: Parameters<typeof serve>[1] = {}) =>
  listen(nodeHandler(serve(agent, { card, ...options })));

/** What a test opens. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** `baton mcp` over HTTP in this process, until the test ends. Resolves to its URL. */
async function bridgeHere(flags: readonly string[]): Promise<string> {
  const stop = new AbortController();
  const written = Promise.withResolvers<string>();
  const running = cli(['mcp', ...flags, '--http', '0', '-o', 'json'], {
    home: temporaryFolder(),
    signal: stop.signal,
    onWrite: (stream, text) => stream === 'stdout' && written.resolve(text),
  });
  onTestFinished(async () => {
    stop.abort();
    expect((await running).code).toBe(0);
  });
  return JSON.parse(await written.promise).url;
}

const until = async (client: ReturnType<typeof rawClient>, taskId: string, status: string) => {
  await expect.poll(async () => (await client.get(taskId)).result?.status).toBe(status);
  return (await client.get(taskId)).result;
};

describe('baton mcp over HTTP', () => {
  it('[R-MT-32] gives a handle before the agent has answered, and the same one after the bridge was killed', async () => {
    const [started, held] = [gate(), gate()];
    let calls = 0;
    // It knows no tasks: its answer is a message, when it is done.
    const far = await serveFar(async ({ text }) => {
      calls += 1;
      started.open();
      await held.opened;
      return reply(`Done: ${text}`);
    });
    const [home, port] = [temporaryFolder(), await freePort()];
    const args = ['-a', far, '--http', String(port), '--resend'];
    const first = startBridge(args, home);
    const { taskId, status } = (await rawClient(await first.url()).tool('Far', { message: 'Go' })).result;
    expect(status).toBe('working');
    await started.opened;
    await first.kill();

    const second = startBridge(args, home);
    const client = rawClient(await second.url());
    expect((await client.get(taskId)).result).toMatchObject({ taskId, status: 'working' });
    held.open();
    expect((await until(client, taskId, 'completed')).result.content).toEqual([
      { type: 'text', text: 'Done: Go' },
    ]);
    expect(calls).toBeLessThanOrEqual(2);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  });

  it('[R-MT-51] follows a task of the agent once, and passes the question and its answer on, over deaths of the bridge', async () => {
    const [first, second] = [gate(), gate()];
    const turns: string[] = [];
    const book = skill({
      id: 'book',
      name: 'Book',
      description: 'Books a room',
      input: z.object({ nights: z.int() }),
      output: z.object({ city: z.string(), nights: z.int() }),
      async *run({ input: { nights }, values }) {
        turns.push(typeof values.city);
        yield working('On it');
        if (typeof values.city !== 'string') {
          await first.opened;
          return yield formRequired('Which city?', { form: z.object({ city: z.string().min(2) }) });
        }
        await second.opened;
        yield artifact('result', data({ city: values.city, nights }));
        yield completed('Booked');
      },
    });
    const far = await listen(
      nodeHandler(serve(async () => reply(''), extend(typedSkills(card, book), formInput, taskError))),
    );
    const [home, port] = [temporaryFolder(), await freePort()];
    const args = ['-a', far, '--http', String(port), '--poll-interval', '50ms'];
    let bridge = startBridge(args, home);
    const client = rawClient(await bridge.url());
    const tools = (await client.call('tools/list')).result.tools;
    expect(tools[1]).toMatchObject({ name: 'book', inputSchema: { required: ['nights'] } });
    const { taskId, pollIntervalMs } = (await client.tool('book', { nights: 2 })).result;
    expect(pollIntervalMs).toBe(50);
    await until(client, taskId, 'working');
    await expect.poll(() => turns).toEqual(['undefined']);
    await bridge.kill();
    bridge = startBridge(args, home);
    await bridge.url();
    first.open();
    const { inputRequests } = await until(client, taskId, 'input_required');
    const [key = ''] = Object.keys(inputRequests);
    expect(inputRequests[key].params).toMatchObject({
      message: 'Which city?',
      requestedSchema: { properties: { city: { type: 'string', minLength: 2 } } },
    });
    if (repetitions(1, 2) > 1) {
      await bridge.kill();
      bridge = startBridge(args, home);
      await bridge.url();
    }
    const answer = { [key]: { action: 'accept', content: { city: 'Rome' } } };
    await Promise.all([client.update(taskId, answer), client.update(taskId, answer)]);
    await expect.poll(() => turns).toEqual(['undefined', 'string']);
    second.open();
    const done = await until(client, taskId, 'completed');
    expect(done.result.structuredContent).toEqual({ city: 'Rome', nights: 2 });
    expect(turns).toEqual(['undefined', 'string']);
  });

  it('[R-MT-31, R-MT-39] has the code of a failure, tells how long an ended task is kept, and cancels at the agent', async () => {
    let canceled = false;
    const agent: Agent = async function* ({ text, signal }) {
      yield working('On it');
      if (text === 'fail') return yield failed({ code: 'NO_ROOM', message: 'Full' });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      canceled = true;
    };
    const far = await listen(nodeHandler(serve(agent, extend({ card, agent }, taskError))));
    const client = rawClient(await bridgeHere(['-a', far, '--retention', '1h']));
    const { taskId } = (await client.tool('Far', { message: 'fail' })).result;
    const done = await until(client, taskId, 'completed');
    expect(done.result).toMatchObject({
      isError: true,
      content: [{ text: 'The task failed (NO_ROOM): Full' }],
    });
    expect(done.ttlMs).toBeGreaterThanOrEqual(3_600_000);
    const other = (await client.tool('Far', { message: 'wait' })).result;
    await expect.poll(async () => (await client.get(other.taskId)).result.statusMessage).toBe('On it');
    await client.cancel(other.taskId);
    await until(client, other.taskId, 'cancelled');
    await expect.poll(() => canceled).toBe(true);
  });

  it('says clearly that the agent forgot a task', async () => {
    const started = gate();
    const agent: Agent = async function* () {
      yield working('On it');
      started.open();
      await new Promise(() => {});
    };
    let served = serve(agent, { card });
    const listener = createServer((request, response) => nodeHandler(served)(request, response));
    const far = await listen(listener);
    const client = rawClient(await bridgeHere(['-a', far]));
    const { taskId } = (await client.tool('Far', { message: 'Go' })).result;
    await started.opened;
    await expect.poll(async () => (await client.get(taskId)).result.statusMessage).toBe('On it');
    // It comes back without its tasks.
    served = serve(agent, { card });
    listener.closeAllConnections();
    const { result } = await until(client, taskId, 'completed');
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('CALL_TASK_LOST') }],
    });
  });

  it.each([
    [['--host', '0.0.0.0'], '--host and --allow-host need --http'],
    [
      ['--http', '0', '--host', '0.0.0.0'],
      '--host 0.0.0.0 needs --allow-host with the names that clients use',
    ],
    [['--retention', '1ms'], '--retention is a second or more'],
  ])('refuses %j', async (flags, sentence) => {
    const far = await serveFar(() => reply('x'));
    const { code, stderr } = await cli(['mcp', '-a', far, ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });
});

describe('baton mcp over standard input', () => {
  it('[R-MT-25, R-MT-41] serves a host that closes and comes back, tells it of its tasks, and keeps the token to itself', async () => {
    const held = gate();
    const far = await serveFar(
      async function* ({ messages, text }) {
        yield working('On it');
        if (messages.length === 1) return yield inputRequired('Who?');
        await held.opened;
        yield completed(`Hi, ${text}`);
      },
      {
        card: {
          ...card,
          securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
          securityRequirements: [{ schemes: { key: { list: [] } } }],
        },
        authenticate: ({ headers }) =>
          headers.authorization === 'Bearer s3cret-token' ? { scope: 'me' } : undefined,
      },
    );
    const home = temporaryFolder();
    const first = startBridge(['-a', far], home, { A2ACLI_BEARER: 's3cret-token' });
    const { result: discovered } = await first.request('server/discover');
    expect(discovered.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} });
    const { result } = await first.request('tools/call', { name: 'Far', arguments: { message: 'Go' } });
    const { taskId } = result;
    await expect
      .poll(async () => (await first.request('tasks/get', { taskId })).result.status)
      .toBe('input_required');
    first.child.stdin.end();
    expect(await first.ended).toBe(0);

    const second = startBridge(['-a', far], home, { A2ACLI_BEARER: 's3cret-token' });
    const { result: again } = await second.request('tasks/get', { taskId });
    const [key = ''] = Object.keys(again.inputRequests);
    const listening = second.request('subscriptions/listen', { notifications: { taskIds: [taskId] } });
    await expect.poll(() => second.notifications.length).toBeGreaterThanOrEqual(2);
    expect(second.notifications[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    const inputResponses = { [key]: { action: 'accept', content: { answer: 'Ann' } } };
    expect((await second.request('tasks/update', { taskId, inputResponses })).result.resultType).toBe(
      'complete',
    );
    held.open();
    const end = await listening;
    expect(end.result).toMatchObject({
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/subscriptionId': end.id },
    });
    expect(second.notifications.at(-1)).toMatchObject({
      method: 'notifications/tasks',
      params: { status: 'completed', result: { content: [{ text: 'Hi, Ann' }] } },
    });
    second.child.stdin.end();
    expect(await second.ended).toBe(0);
    for (const { written } of [first, second]) {
      for (const line of written.stdout.trim().split('\n'))
        expect(JSON.parse(line)).toHaveProperty('jsonrpc');
      expect(written.stdout + written.stderr).not.toContain('s3cret');
    }
    const folder = join(home, '.local/share/a2a-cli/mcp');
    const files = readdirSync(folder);
    expect(files.some((file) => file.endsWith('.db'))).toBe(true);
    for (const file of files) expect(readFileSync(join(folder, file), 'latin1')).not.toContain('s3cret');
  });

  it('[R-MT-13, R-MT-41] refuses a subscription without tasks, and ends one that is cancelled', async () => {
    const far = await serveFar(async function* () {
      yield working('On it');
      await new Promise(() => {});
    });
    const bridge = startBridge(['-a', far], temporaryFolder());
    await bridge.request('server/discover');
    const refused = await bridge.request('subscriptions/listen', { notifications: { taskIds: [] } });
    expect(refused.error.code).toBe(-32602);
    const { result } = await bridge.request('tools/call', { name: 'Far', arguments: { message: 'Go' } });
    const { taskId } = result;
    bridge.request('subscriptions/listen', { notifications: { taskIds: [taskId] } }).catch(() => {});
    await expect.poll(() => bridge.notifications.length).toBeGreaterThanOrEqual(2);
    const [{ params }] = bridge.notifications as [{ params: { _meta: Record<string, unknown> } }];
    bridge.notify('notifications/cancelled', {
      requestId: params._meta['io.modelcontextprotocol/subscriptionId'],
    });
    await bridge.request('tasks/cancel', { taskId });
    await expect
      .poll(async () => (await bridge.request('tasks/get', { taskId })).result.status)
      .toBe('cancelled');
    expect(JSON.stringify(bridge.notifications)).not.toContain('cancelled"');
  });
});
