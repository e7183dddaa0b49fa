import { testClock } from '@batonjs/testing';
import { beforeEach, expect, it } from 'vitest';
import { memoryFiles } from '../../../../test/kit/memory-files.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired } from '../../src/index.ts';
import { heardStore } from './heard-store.ts';

/** `run: 'due'` beside another option: each works in runs as it does in a server that stays. */

const minute = 60_000;
/** How often a process that begins asks its store: to reply to a message, and to work on its task in a run. */
const coldStartCalls = { reply: 4, run: 20 };
let clock = testClock();
let { heard, store, clock: counted } = heardStore(clock);

beforeEach(() => {
  clock = testClock(new Date('2030-01-01T12:00:00Z'));
  ({ heard, store, clock: counted } = heardStore(clock));
});

const due = (agent: Agent, options: ServeOptions = {}) =>
  serve(agent, { store, clock: counted, run: 'due', restart: 'rerun', ...options });

const send = async (server: ReturnType<typeof due>) =>
  (await rpc(server, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } })).task;

async function run(server: ReturnType<typeof due>): Promise<void> {
  const running = server.runDue({ forMs: minute });
  running.catch(() => {});
  await clock.advance(minute);
  await running;
}

/** Calls a model twice, 60 tokens at a time. */
const asks: Agent = async function* ({ step }) {
  for (const name of ['first', 'second'])
    await step(name, { usage: () => ({ model: 'm', inputTokens: 60 }) }, () => 'well');
  yield completed();
};

const links: string[] = [];

it.each<[string, Agent, ServeOptions, object, ((server: ReturnType<typeof due>) => Promise<unknown>)?]>([
  [
    'files',
    async function* ({ saveFile }) {
      yield completed(await saveFile(new Uint8Array(70_000), { mediaType: 'image/png' }));
    },
    { files: { store: memoryFiles() }, publicUrl: 'https://agent.example' },
    { state: 'COMPLETED', message: { parts: [{ url: expect.stringContaining('agent.example/files/') }] } },
  ],
  ['limits.tokensPerTask', asks, { limits: { tokensPerTask: 50 } }, { state: 'FAILED' }],
  ['limits.tokensPerContext', asks, { limits: { tokensPerContext: 50 } }, { state: 'FAILED' }],
  ['limits.dailyTokens', asks, { limits: { dailyTokens: 50 } }, { state: 'FAILED' }],
  [
    'callbacks',
    async function* ({ callback, callbacks }) {
      if (callbacks.paid) return yield completed(JSON.stringify(callbacks.paid.value));
      links.push((await callback({ name: 'paid', expiresMs: 60 * minute })).url);
      yield inputRequired('Paid?');
    },
    { callbacks: true, publicUrl: 'https://agent.example' },
    { state: 'COMPLETED', message: { parts: [{ text: '{"by":"bank"}' }] } },
    async (server) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ by: 'bank' });
      await server.fetch(new Request(links.at(-1)!, { method: 'POST', headers, body }));
    },
  ],
])('%s', async (_, agent, options, shown, between = async () => {}) => {
  const server = due(agent, options);
  const { id } = await send(server);
  expect((await rpc(server, 'GetTask', { id })).status.state).toBe('TASK_STATE_SUBMITTED');
  await run(server);
  await between(server);
  await run(server);
  const { status } = await rpc(server, 'GetTask', { id });
  expect({ ...status, state: status.state.replace('TASK_STATE_', '') }).toMatchObject(shown);
  expect(heard).toMatchObject({ subscribed: 0, asleep: 0 });
});

it('a process that begins asks the store no more often than this to reply, and to work on a task', async () => {
  await run(due(asks));
  const before = heard.called.length;
  // As in another process.
  const server = due(asks, { store: new Proxy(store, {}) });
  await send(server);
  const replied = heard.called.length;
  await run(server);
  expect(heard.called.slice(before, replied)).toHaveLength(coldStartCalls.reply);
  expect(heard.called.slice(replied)).toHaveLength(coldStartCalls.run);
});
