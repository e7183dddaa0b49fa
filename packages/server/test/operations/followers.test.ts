import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { append, artifact, completed, inputRequired, type Turn, text, working } from '../../src/index.ts';
import { servePushing } from '../webhooks/kit/serve-pushing.ts';
import { webhook } from '../webhooks/kit/webhook.ts';

const configuration = { returnImmediately: true };

it('one follower that does not read leaves the others all events of its task', async () => {
  const go = Promise.withResolvers<void>();
  const server = serve(async function* () {
    yield working();
    await go.promise;
    yield artifact('a', text('x'.repeat(10_000)));
    for (let n = 0; n < 300; n++) yield append('a', text('x'.repeat(10_000)));
    yield completed();
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  const idle = stream(server, 'SubscribeToTask', { id: task.id });
  await idle.next();
  const others = [1, 2].map(() => collect(stream(server, 'SubscribeToTask', { id: task.id })));
  go.resolve();
  for (const seen of await Promise.all(others)) expect(seen.at(-1)).toBe('COMPLETED');
  await idle.return(undefined);
});

it('a task that ends between the look at it and the subscription ends the stream', async () => {
  const store = memoryStore();
  const go = Promise.withResolvers<void>();
  const agent = async function* () {
    yield working();
    await go.promise;
    yield completed();
  };
  const here = serve(agent, { store });
  const { task } = await rpc(here, 'SendMessage', { message: say('go'), configuration });
  const late = change(store, {
    subscribe: (subscribe) => async (topic, notify) => {
      if ('taskId' in topic) {
        go.resolve();
        await collect(stream(here, 'SubscribeToTask', { id: task.id })).catch(() => {});
      }
      return subscribe(topic, notify);
    },
  });
  const there = serve(agent, { store: late, run: 'workers', timeouts: { sweepMs: 1e9 } });
  expect((await collect(stream(there, 'SubscribeToTask', { id: task.id }))).at(-1)).toContain('COMPLETED');
});

it('the cancel of a task that asks is heard by its stream and its webhook', async () => {
  const hook = await webhook();
  const agent = async function* ({ text: said }: Turn) {
    yield inputRequired(`${said}?`);
  };
  const server = servePushing(memoryStore(), {}, { agent });
  const asked = { ...configuration, taskPushNotificationConfig: { url: hook.url() } };
  const { task } = await rpc(server, 'SendMessage', { message: say('Go'), configuration: asked });
  const seen = collect(stream(server, 'SubscribeToTask', { id: task.id }));
  await expect
    .poll(async () => (await rpc(server, 'GetTask', { id: task.id })).status.state)
    .toBe('TASK_STATE_INPUT_REQUIRED');
  expect((await rpc(server, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
  expect((await seen).at(-1)).toBe('CANCELED');
  await expect.poll(() => hook.acknowledged.at(-1)).toBe('CANCELED');
});
