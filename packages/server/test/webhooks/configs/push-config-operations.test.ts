import type { ClientBinding } from '@batonjs/bindings';
import { httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { type AgentClient, connect } from '@batonjs/client';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import type { AgentServerOptions } from '../../../src/index.ts';
import type { PushOptions } from '../../../src/webhooks/webhooks.ts';
import { chatty } from '../kit/settings.ts';

const secrets = { token: 'tok-1', authentication: { scheme: 'Bearer', credentials: 'cred-1' } };
const url = 'https://93.184.216.34/hook';

const violated = (...fields: string[]) => ({
  reason: 'INVALID_PARAMS',
  details: [{ fieldViolations: fields.map((field) => expect.objectContaining({ field })) }],
});

/** Push as it is by default: no network of ours is listed. */
const start = (push: PushOptions | false = {}, more: Partial<AgentServerOptions> = {}) =>
  serve(chatty, {
    push,
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'alice' }),
    ...more,
  });

describe.each<[string, ClientBinding]>([
  ['JSON-RPC', jsonRpcClient],
  ['HTTP+JSON', httpJsonClient],
])('over %s', (_name, binding) => {
  const clientOf = (server: ReturnType<typeof start>, caller = 'alice'): Promise<AgentClient> =>
    connect('http://localhost/', {
      fetch: server.fetch,
      bindings: [binding],
      checkCapabilities: false,
      retry: false,
      credentials: () => ({ 'x-caller': caller }),
    });
  const started = async (push?: PushOptions) => {
    const server = start(push);
    const client = await clientOf(server);
    const answer = await client.sendMessage({ message: say('go') });
    if (!('task' in answer)) throw new Error('Expected a task');
    return { server, client, taskId: answer.task.id };
  };

  it('registers a webhook, with an id of its own or of the client, and echoes it [R-PUSH-02] [R-PUSH-03]', async () => {
    const { client, taskId } = await started();
    const first = await client.createTaskPushNotificationConfig({ taskId, url, ...secrets });
    expect(first).toEqual({ taskId, url, ...secrets, id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    const second = await client.createTaskPushNotificationConfig({ taskId, url, id: 'mine' });
    expect(second).toEqual({ taskId, url, id: 'mine' });
    const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
    expect(configs?.map(({ id }) => id).sort()).toEqual([first.id, 'mine'].sort());
  });

  it('puts one with a known id in the place of the other [R-PUSH-03]', async () => {
    const { client, taskId } = await started();
    await client.createTaskPushNotificationConfig({ taskId, url, id: 'one', token: 'old' });
    await client.createTaskPushNotificationConfig({ taskId, url: `${url}/2`, id: 'one' });
    const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
    expect(configs).toEqual([{ taskId, url: `${url}/2`, id: 'one' }]);
  });

  it('shows webhooks without their secrets [R-PUSH-05] [R-PUSH-08]', async () => {
    const { client, taskId } = await started();
    await client.createTaskPushNotificationConfig({ taskId, url, id: 'one', ...secrets });
    const shown = { taskId, url, id: 'one', authentication: { scheme: 'Bearer' } };
    expect(await client.getTaskPushNotificationConfig({ taskId, id: 'one' })).toEqual(shown);
    expect(await client.listTaskPushNotificationConfigs({ taskId })).toEqual({ configs: [shown] });
  });

  it('shows the secrets where that is wanted [R-PUSH-08]', async () => {
    const { client, taskId } = await started({ redactSecrets: false });
    await client.createTaskPushNotificationConfig({ taskId, url, id: 'one', ...secrets });
    expect(await client.getTaskPushNotificationConfig({ taskId, id: 'one' })).toMatchObject(secrets);
    expect((await client.listTaskPushNotificationConfigs({ taskId })).configs).toMatchObject([secrets]);
  });

  it('lists page by page, each webhook once [R-PUSH-06]', async () => {
    const { client, taskId } = await started();
    const ids = Array.from({ length: 7 }, (_, n) => `w-${n}`);
    for (const id of ids) await client.createTaskPushNotificationConfig({ taskId, url, id });
    const seen: string[][] = [];
    let pageToken: string | undefined;
    do {
      const page = await client.listTaskPushNotificationConfigs({ taskId, pageSize: 3, pageToken });
      seen.push((page.configs ?? []).map(({ id }) => id ?? ''));
      pageToken = page.nextPageToken;
    } while (pageToken);
    expect(seen).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)]);
    await expect(
      client.listTaskPushNotificationConfigs({ taskId, pageToken: 'made-up' }),
    ).rejects.toMatchObject(violated('pageToken'));
  });

  it('refuses the page token of another task, and one that names no webhook [R-PUSH-06]', async () => {
    const { client, taskId } = await started();
    for (const id of ['a', 'b']) await client.createTaskPushNotificationConfig({ taskId, url, id });
    const { nextPageToken } = await client.listTaskPushNotificationConfigs({ taskId, pageSize: 1 });
    const answer = await client.sendMessage({ message: say('go') });
    if (!('task' in answer)) throw new Error('Expected a task');
    const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const [id, pageToken] of [
      [answer.task.id, nextPageToken],
      [taskId, forged([taskId, 1])],
      [taskId, forged([taskId])],
      [taskId, forged([undefined, 'a'])],
      [taskId, forged({ 0: taskId, 1: 'a' })],
      [taskId, forged(null)],
    ] as const)
      await expect(
        client.listTaskPushNotificationConfigs({ taskId: id, pageToken }),
        String(pageToken),
      ).rejects.toMatchObject(violated('pageToken'));
    const { configs } = await client.listTaskPushNotificationConfigs({ taskId, pageToken: nextPageToken });
    expect(configs?.map(({ id }) => id)).toEqual(['b']);
  });

  it('removes a webhook, twice if need be [R-PUSH-07] [R-IDEM-02]', async () => {
    const { client, taskId } = await started();
    await client.createTaskPushNotificationConfig({ taskId, url, id: 'one' });
    expect(await client.deleteTaskPushNotificationConfig({ taskId, id: 'one' })).toEqual({});
    expect(await client.deleteTaskPushNotificationConfig({ taskId, id: 'one' })).toEqual({});
    await expect(client.getTaskPushNotificationConfig({ taskId, id: 'one' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    expect(await client.listTaskPushNotificationConfigs({ taskId })).toEqual({ configs: [] });
  });

  it('knows no task that is missing or of another caller [R-PUSH-02] [R-PUSH-05] [R-PUSH-07] [R-OP-03] [R-OP-04]', async () => {
    const { server, client, taskId } = await started();
    await client.createTaskPushNotificationConfig({ taskId, url, id: 'one' });
    const bob = await clientOf(server, 'bob');
    for (const [who, of] of [
      [bob, taskId],
      [client, 'missing'],
    ] as const) {
      const asked = await Promise.allSettled([
        who.createTaskPushNotificationConfig({ taskId: of, url, id: 'one' }),
        who.getTaskPushNotificationConfig({ taskId: of, id: 'one' }),
        who.listTaskPushNotificationConfigs({ taskId: of }),
        who.deleteTaskPushNotificationConfig({ taskId: of, id: 'one' }),
      ]);
      const reasons = asked.map((answer) => answer.status === 'rejected' && answer.reason.reason);
      expect(reasons).toEqual(Array(4).fill('TASK_NOT_FOUND'));
    }
    expect(await client.getTaskPushNotificationConfig({ taskId, id: 'one' })).toMatchObject({ url });
  });

  it.each([
    ['loopback', { url: 'https://127.0.0.1/hook' }, 'url'],
    ['no TLS [R-PUSH-43]', { url: 'http://93.184.216.34/hook' }, 'url'],
    ['a file', { url: 'file:///etc/passwd' }, 'url'],
    ['a name of this machine', { url: 'https://localhost/' }, 'url'],
    ['a name that leads inside', { url: 'https://inside.example/' }, 'url'],
    ['a name that leads inside as well', { url: 'https://both.example/' }, 'url'],
    ['credentials in the URL', { url: 'https://user:pass@93.184.216.34/' }, 'url'],
    ['an endless URL', { url: `https://93.184.216.34/${'x'.repeat(9_000)}` }, 'url'],
    ['a second header in the token', { token: 'a\r\nX-Admin: true' }, 'token'],
    ['a token beyond ASCII', { token: 'clé' }, 'token'],
    ['an endless token', { token: 'x'.repeat(9_000) }, 'token'],
    [
      'a second header in the credentials',
      { authentication: { scheme: 'Bearer', credentials: 'a\nb' } },
      'authentication.credentials',
    ],
    [
      'a scheme of two words',
      { authentication: { scheme: 'Bearer x', credentials: 'y' } },
      'authentication.scheme',
    ],
    ['an id with a NUL', { id: 'a\0b' }, 'id'],
    ['an endless id', { id: 'x'.repeat(1_025) }, 'id'],
  ])('refuses %s, wherever it comes from [R-PUSH-10]', async (_what, wrong, field) => {
    const addresses = { 'inside.example': ['10.0.0.1'], 'both.example': ['93.184.216.34', '::1'] };
    const resolve = async (name: string) => addresses[name as keyof typeof addresses] ?? [];
    const { server, client, taskId } = await started({ resolve });
    const config = { url, ...wrong };
    await expect(client.createTaskPushNotificationConfig({ ...config, taskId })).rejects.toMatchObject(
      violated(field),
    );
    expect(await client.listTaskPushNotificationConfigs({ taskId })).toEqual({ configs: [] });
    const { totalSize } = await client.listTasks();
    const sent = client.sendMessage({
      message: say('more'),
      configuration: { taskPushNotificationConfig: config },
    });
    const inline = `configuration.taskPushNotificationConfig.${field}`;
    await expect(sent).rejects.toMatchObject(violated(inline));
    expect([(await client.listTasks()).totalSize, server.load.turns]).toEqual([totalSize, 0]);
  });

  it('accepts a name that cannot be resolved now: it may be later', async () => {
    const { client, taskId } = await started({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    await client.createTaskPushNotificationConfig({ taskId, url: 'https://soon.example/', id: 'one' });
    expect((await client.listTaskPushNotificationConfigs({ taskId })).configs).toHaveLength(1);
  });

  it('bounds the webhooks of a task, known ones may still be replaced', async () => {
    const { client, taskId } = await started({ configsPerTask: 2 });
    for (const id of ['a', 'b', 'b', 'a']) await client.createTaskPushNotificationConfig({ taskId, url, id });
    await expect(client.createTaskPushNotificationConfig({ taskId, url, id: 'c' })).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    });
  });

  it.each<[string, PushOptions | false | undefined, (store: TaskStore) => TaskStore]>([
    ['is turned off', false, (store) => store],
    ['cannot be kept by the store', undefined, ({ ...store }) => without(store)],
  ])('refuses all of it where push %s [R-PUSH-01] [R-OP-06] [R-SEND-16]', async (_why, push, keep) => {
    const server = start(push, { store: keep(memoryStore()) });
    expect(server.card.capabilities.pushNotifications).toBe(false);
    const client = await clientOf(server);
    const asked = await Promise.allSettled([
      client.createTaskPushNotificationConfig({ taskId: 'x', url }),
      client.getTaskPushNotificationConfig({ taskId: 'x', id: 'y' }),
      client.listTaskPushNotificationConfigs({ taskId: 'x' }),
      client.deleteTaskPushNotificationConfig({ taskId: 'x', id: 'y' }),
      client.sendMessage({
        message: say('go'),
        configuration: { taskPushNotificationConfig: { url } },
      }),
    ]);
    const reasons = asked.map((answer) => answer.status === 'rejected' && answer.reason.reason);
    expect(reasons).toEqual(Array(5).fill('PUSH_NOTIFICATION_NOT_SUPPORTED'));
    expect(await server.push.deadLetters()).toEqual([]);
    expect(await server.push.redeliver({ scope: '', taskId: 'x', id: 'y' })).toBe(false);
  });

  it('says in the card that there is push, and refuses to say it where there is none [R-PUSH-01]', async () => {
    expect(start().card.capabilities.pushNotifications).toBe(true);
    const card = { name: 'Test', description: 'For tests', capabilities: { pushNotifications: true } };
    expect(() => start(false, { card })).toThrow(TypeError);
  });
});

const without = (store: TaskStore): TaskStore =>
  Object.fromEntries(
    Object.entries(store).filter(([name]) => !/push|deliver|advance|dead|revive/i.test(name)),
  ) as unknown as TaskStore;
