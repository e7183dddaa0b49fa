import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scopeOf } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { completed } from '../../../src/index.ts';

const url = 'https://93.184.216.34/hook';
const caller = scopeOf('agent', '', 'alice');

/** A task of a send with a webhook that no process works on, and what the store was asked to put and holds. */
async function sent() {
  const memory = memoryStore();
  const puts: string[] = [];
  const store = change(memory, {
    putPushConfig: (put) => (entry, atMost) => {
      puts.push(entry.config.url);
      return put(entry, atMost);
    },
    getPushConfig:
      (get) =>
      async (...name) => {
        const found = await get(...name);
        return found && state.isDead ? { ...found, dead: 'too many failures' } : found;
      },
  });
  const state = { isDead: false };
  const agent = async function* () {
    yield completed();
  };
  const server = serve(agent, { store, run: 'workers', push: {}, authenticate: () => ({ scope: 'alice' }) });
  const message = say('go');
  const send = (taskPushNotificationConfig?: object) =>
    rpc(server, 'SendMessage', {
      message,
      configuration: { returnImmediately: true, taskPushNotificationConfig },
    });
  const { task } = await send({ url, token: 'one' });
  const { configs } = await rpc(server, 'ListTaskPushNotificationConfigs', { taskId: task.id });
  const held = async () =>
    (await memory.listPushConfigs(caller, task.id, { limit: 10 })).map(({ config }) => config);
  return { state, puts, send, server, taskId: task.id, id: configs[0].id, held };
}

it('a repeated send leaves its webhook as it is, however its members are ordered', async () => {
  const { puts, send, held } = await sent();
  await send({ token: 'one', url });
  await send();
  expect(puts).toEqual([url]);
  expect(await held()).toMatchObject([{ url, token: 'one', id: expect.stringMatching(/^[\w-]{22}$/) }]);
});

it.each([
  ['another address', { url: `${url}/2`, token: 'one' }],
  ['another token', { url, token: 'two' }],
  ['no token', { url }],
])('a repeated send whose webhook has %s replaces the one it registered', async (_, config) => {
  const { send, held, id, taskId } = await sent();
  await send(config);
  expect(await held()).toEqual([{ ...config, id, taskId }]);
});

it('a repeated send registers a webhook that was removed, or given up, once more', async () => {
  const { puts, state, send, server, taskId, id, held } = await sent();
  await rpc(server, 'DeleteTaskPushNotificationConfig', { taskId, id });
  expect(await held()).toEqual([]);
  await send({ url, token: 'one' });
  expect(await held()).toEqual([{ url, token: 'one', id, taskId }]);
  state.isDead = true;
  await send({ url, token: 'one' });
  expect(puts).toEqual([url, url, url]);
});

it('each send has a webhook of its own, unless it names one', async () => {
  const { server, taskId, id, held } = await sent();
  const more = (taskPushNotificationConfig: object) =>
    rpc(server, 'SendMessage', {
      message: say('more', { taskId }),
      configuration: { returnImmediately: true, taskPushNotificationConfig },
    });
  await more({ url });
  expect(new Set((await held()).map((one) => one.id)).size).toBe(2);
  await more({ url, id });
  await more({ url, id: 'mine' });
  const ids = (await held()).map((one) => one.id);
  expect(ids).toHaveLength(3);
  expect(ids).toEqual(expect.arrayContaining([id, 'mine']));
});

it('another message of the same task registers a webhook of its own', async () => {
  const { server, taskId, held } = await sent();
  await rpc(server, 'SendMessage', {
    message: say('more', { taskId }),
    configuration: { returnImmediately: true, taskPushNotificationConfig: { url: `${url}/more` } },
  });
  expect((await held()).map((config) => config.url).sort()).toEqual([url, `${url}/more`]);
});
