import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type Agent, authRequired, completed, inputRequired, working } from '../../src/index.ts';

/** What a turn that is run again is given: a server that closes hands its turns over in the middle. */

const configuration = { returnImmediately: true };
const never = new Promise<never>(() => {});

it('each attempt has the message of the first, and gets those that earlier ones took from the inbox', async () => {
  const store = memoryStore();
  const seen: unknown[] = [];
  const sent = Promise.withResolvers<void>();
  let took = Promise.withResolvers<void>();
  const agent: Agent = async function* ({ attempt, message, text, metadata, inbox, messages, woken }) {
    yield working();
    await sent.promise;
    const heard: unknown[] = [];
    for (let n = 0; n <= attempt; n++) heard.push((await inbox.take())?.messageId);
    seen.push({ attempt, message: message.messageId, text, metadata, heard, left: inbox.size, woken });
    took.resolve();
    if (attempt < 3) await never;
    yield completed(String(messages.length));
  };
  const first = serve(agent, { store, restart: 'rerun' });
  const { task } = await rpc(first, 'SendMessage', {
    message: say('go', { messageId: 'm1' }),
    metadata: { number: 1 },
    configuration,
  });
  const send = (messageId: string) =>
    rpc(first, 'SendMessage', {
      message: say(messageId, { messageId, taskId: task.id }),
      metadata: { number: messageId },
      configuration,
    });
  for (const messageId of ['m2', 'm3', 'm4', 'm5', 'm6']) await send(messageId);
  sent.resolve();
  await took.promise;
  took = Promise.withResolvers();
  await first.close({ graceMs: 0 });
  const second = serve(agent, { store, restart: 'rerun' });
  await took.promise;
  await second.close({ graceMs: 0 });
  const ended = await until(serve(agent, { store, restart: 'rerun' }), task.id, 'COMPLETED');
  const same = { message: 'm1', text: 'go', metadata: { number: 1 }, woken: false };
  expect(seen).toEqual([
    { attempt: 1, ...same, heard: ['m2', 'm3'], left: 3 },
    { attempt: 2, ...same, heard: ['m2', 'm3', 'm4'], left: 2 },
    { attempt: 3, ...same, heard: ['m2', 'm3', 'm4', 'm5'], left: 1 },
  ]);
  expect(ended.status.message?.parts).toEqual([{ text: '6' }]);
});

it('a turn that no message started is told so in each attempt, whatever it took meanwhile', async () => {
  const store = memoryStore();
  const seen: unknown[] = [];
  const took = Promise.withResolvers<void>();
  let key = '';
  const agent: Agent = async function* ({ attempt, message, inbox, woken, wakeKey }) {
    key = wakeKey;
    if (!woken) return yield inputRequired('Well?');
    yield working();
    const heard = (await inbox.take())?.messageId;
    seen.push([attempt, message.messageId, heard]);
    took.resolve();
    if (attempt === 1) await never;
    yield completed();
  };
  const first = serve(agent, { store, restart: 'rerun' });
  const { task } = await rpc(first, 'SendMessage', { message: say('go', { messageId: 'm1' }) });
  await first.wake(key);
  await until(first, task.id, 'WORKING');
  const message = say('and', { messageId: 'm2', taskId: task.id });
  await rpc(first, 'SendMessage', { message, configuration });
  await took.promise;
  await first.close({ graceMs: 0 });
  await until(serve(agent, { store, restart: 'rerun' }), task.id, 'COMPLETED');
  expect(seen).toEqual([
    [1, 'm1', 'm2'],
    [2, 'm1', 'm2'],
  ]);
});

it('a wake-up that came while an attempt ran starts the next turn', async () => {
  const store = memoryStore();
  let key = '';
  const agent: Agent = async function* ({ attempt, woken, wakeKey }) {
    key = wakeKey;
    if (woken) return yield completed('Awake');
    yield authRequired('Log in');
    if (attempt === 1) await never;
  };
  const first = serve(agent, { store, restart: 'rerun' });
  const { task } = await rpc(first, 'SendMessage', { message: say('go') });
  await first.wake(key);
  await first.close({ graceMs: 0 });
  const { status } = await until(serve(agent, { store, restart: 'rerun' }), task.id, 'COMPLETED');
  expect(status.message?.parts).toEqual([{ text: 'Awake' }]);
});
