import { GENERATION } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { completed, inputRequired, type Turn, type Updates } from '../../src/index.ts';
import { servePushing } from './kit/serve-pushing.ts';
import { webhook } from './kit/webhook.ts';

it.each([
  ['with the extension', { 'a2a-extensions': GENERATION }, true],
  ['without it', {}, false],
] as const)(
  'a webhook gets its events as it was registered: %s [R-P11-31]',
  async (_, headers, isCounted) => {
    const hook = await webhook();
    const server = servePushing(memoryStore(), { updates: 'all' }, { compatibility: ['1.1'] });
    const configuration = { taskPushNotificationConfig: { url: hook.url() } };
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration }, headers);
    const active = { 'a2a-extensions': GENERATION };
    const { generation } = await rpc(server, 'GetTask', { id: task.id }, active);
    await hook.until(Number(generation) - 1);
    const values = hook.received.map(
      ({ event }) => (Object.values(event)[0] as { generation?: string }).generation,
    );
    // The task itself is the first generation, and no event.
    expect(values).toEqual(values.map((_value, n) => (isCounted ? String(n + 2) : undefined)));
  },
);

async function* asking({ text }: Turn): Updates {
  yield text === 'go' ? inputRequired('Well?') : completed();
}

it('a webhook counts messages of clients [R-P11-50] [R-P11-76]', async () => {
  const hook = await webhook();
  const server = servePushing(memoryStore(), { updates: 'all' }, { compatibility: ['1.1'], agent: asking });
  const configuration = { taskPushNotificationConfig: { url: hook.url() } };
  const active = { 'a2a-extensions': GENERATION };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration }, active);
  await rpc(server, 'SendMessage', { message: say('on', { taskId: task.id }) }, active);
  await hook.until(3);
  const values = hook.received.map(({ event }) => Object(Object.values(event)[0]).generation);
  expect(values).toEqual(['2', '4', '5']);
});

it('a webhook gets what is left of a task that is deleted at the same moment', async () => {
  const hook = await webhook();
  const store = change(memoryStore(), { load: () => async () => undefined });
  const server = servePushing(store, { updates: 'all' }, { compatibility: ['1.1'] });
  const configuration = { taskPushNotificationConfig: { url: hook.url() } };
  const headers = { 'a2a-extensions': GENERATION };
  await rpc(server, 'SendMessage', { message: say('go'), configuration }, headers);
  await hook.until(1);
  expect(Object.values(hook.received[0]!.event)).toMatchObject([{ generation: '0' }]);
});
