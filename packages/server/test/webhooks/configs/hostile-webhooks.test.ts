import { memoryStore } from '@batonjs/store-memory';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import { type Canary, canary } from '../address-policy/canary.ts';
import { hostileNames, hostileUrls } from '../address-policy/hostile-urls.ts';
import { registered } from '../kit/push-config.ts';
import { create, servePushing } from '../kit/serve-pushing.ts';

let bird: Canary;
beforeAll(async () => {
  bird = await canary();
});
afterAll(() => bird.close());

const resolve = async (name: string) => hostileNames[name] ?? ['93.184.216.34'];
const wary = { allow: [], resolve };
const finished = async (server: ReturnType<typeof servePushing>): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say('go') })).task.id;

it('no hostile URL can be registered, on its own or with a message [R-PUSH-10] [R-PUSH-40] [R-PUSH-41]', async () => {
  const { attempts } = bird;
  const store = memoryStore();
  const server = servePushing(store, wary);
  const taskId = await finished(server);
  for (const [what, url] of hostileUrls(bird.port)) {
    await expect(create(server, { taskId, url }), what).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    const configuration = { taskPushNotificationConfig: { url } };
    const sent = rpc(server, 'SendMessage', { message: say('go'), configuration });
    await expect(sent, what).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  }
  expect((await store.list(scope, { limit: 10, answered: true })).total).toBe(1);
  expect([bird.visits, bird.attempts - attempts]).toEqual([0, 0]);
});

it('no hostile URL is contacted though it is registered already [R-PUSH-40] [R-PUSH-41]', async () => {
  const { attempts } = bird;
  const store = memoryStore();
  const server = servePushing(store, wary);
  const taskId = await finished(server);
  const urls = hostileUrls(bird.port);
  for (const [n, [, url]] of urls.entries()) {
    const config = { taskId, id: `w-${n}`, url };
    await store.putPushConfig(registered(config));
  }
  const letters = await eventually(async () => {
    const found = await server.push.deadLetters({ limit: 1_000 });
    expect(found).toHaveLength(urls.length);
    return found;
  });
  for (const { reason } of letters) expect(reason).toMatch(/^URL must .*, 1 attempt$/);
  expect([bird.visits, bird.attempts - attempts]).toEqual([0, 0]);
});

it('a name that is public when it is registered and private when it is used is not contacted [R-PUSH-41]', async () => {
  const { attempts } = bird;
  const answers: string[][] = [['93.184.216.34']];
  const server = servePushing(memoryStore(), {
    resolve: async () => answers.shift() ?? ['127.0.0.1'],
    allow: [],
  });
  const url = `https://rebinding.example:${bird.port}/`;
  const configuration = { taskPushNotificationConfig: { url } };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  await eventually(async () => {
    expect(await server.push.deadLetters()).toMatchObject([
      { taskId: task.id, reason: 'URL must lead to a public address, 1 attempt' },
    ]);
  });
  expect([answers, bird.visits, bird.attempts - attempts]).toEqual([[], 0, 0]);
});
