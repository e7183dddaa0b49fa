import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { ServerCompatibility } from '@batonjs/bindings';
import { deletionsOf } from '@batonjs/store/rules';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type Clock, systemClock } from '../../src/base/timing/clock.ts';
import { completed, inputRequired, reply, taskAgent } from '../../src/index.ts';
import { createWorker } from '../../src/worker.ts';
import { registered } from './kit/push-config.ts';
import { begin, create, gatedAgent, send, servePushing } from './kit/serve-pushing.ts';
import { chatty, heard, quick } from './kit/settings.ts';
import { type Received, webhook } from './kit/webhook.ts';
import { stores } from './stores.ts';

/** A sleep whose waits of one length are over when the status of an answer has arrived, however long that takes. */
function untilAnswered(ms: number): Clock['sleep'] {
  let expire = () => {};
  const channel = 'http.client.response.finish';
  // After those who asked have heard of the answer.
  const onAnswer = () => setImmediate(() => expire());
  subscribe(channel, onAnswer);
  onTestFinished(() => void unsubscribe(channel, onAnswer));
  return (wanted, signal) =>
    wanted === ms
      ? new Promise((resolve) => {
          expire = resolve;
        })
      : systemClock.sleep(wanted, signal);
}

const idsOf = (received: readonly Received[]) => received.map(({ id }) => id);

describe.each(stores)('with %s', (_name, create_) => {
  it('posts every update of a task, in order, as the body of a stream event [R-PUSH-20] [R-PUSH-21] [R-PUSH-24] [R-PUSH-25] [R-SEND-16]', async () => {
    const hook = await webhook();
    const server = servePushing(create_()());
    const { id } = await send(server, { url: hook.url() });
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
    for (const { method, headers, event } of hook.received) {
      expect([method, headers['content-type'], headers['a2a-version']]).toEqual([
        'POST',
        'application/a2a+json',
        '1.0',
      ]);
      expect(Object.keys(event)).toHaveLength(1);
      expect(Object.values(event)[0]).toMatchObject({ taskId: id, contextId: expect.stringMatching(/./) });
    }
    expect(new Set(idsOf(hook.received)).size).toBe(heard.length);
  });

  it('tries again what failed, under the same id, before anything newer [R-PUSH-26] [R-PUSH-27] [R-PUSH-28] [R-PUSH-30]', async () => {
    const answers = [503, 500, 408, 425, 429];
    const tries = new Map<string, number>();
    const hook = await webhook(({ id }) => {
      const before = tries.get(id) ?? 0;
      tries.set(id, before + 1);
      return answers[before] ?? 200;
    });
    const server = servePushing(create_()());
    await send(server, { url: hook.url() });
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
    const expected = [...tries.keys()].flatMap((id) => Array(6).fill(id));
    expect(idsOf(hook.received)).toEqual(expected);
  });

  it('retries when the webhook does not answer, or the connection breaks [R-PUSH-26] [R-PUSH-27]', async () => {
    const hook = await webhook((_, before) => {
      if (before === 0) return (response) => response.destroy();
      return before === 1 ? () => {} : 200;
    });
    const server = servePushing(create_()(), { timeoutMs: 150 });
    await send(server, { url: hook.url() });
    await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
    // An answer that took a busy machine longer than the limit is asked for again.
    expect([...new Set(hook.acknowledged)]).toEqual(heard);
    expect(new Set(idsOf(hook.received.slice(0, 3))).size).toBe(1);
  });

  it('shares the work of two servers: each update once, in order, from either server', async () => {
    const open = create_();
    const hook = await webhook();
    const [a, b] = [servePushing(open()), servePushing(open())];
    const sends = Array.from({ length: 10 }, (_, n) => send(n % 2 ? a : b, { url: hook.url(`/${n}`) }));
    await Promise.all(sends);
    await hook.until(10 * heard.length);
    expect(new Set(idsOf(hook.received)).size).toBe(hook.received.length);
    for (let n = 0; n < 10; n++) {
      const own = hook.received.filter(({ path }) => path === `/${n}`);
      expect(own.map(({ event }) => Object.keys(event)[0])).toEqual([
        'statusUpdate',
        'artifactUpdate',
        'artifactUpdate',
        'statusUpdate',
      ]);
    }
  });

  it('goes on where a server stopped, under the same ids [R-PUSH-04] [R-PUSH-27]', async () => {
    const open = create_();
    let isUp = false;
    const hook = await webhook(({ event }) => ('artifactUpdate' in event && !isUp ? 503 : 200));
    const first = servePushing(open(), { retry: { maxDelayMs: 1 } });
    await send(first, { url: hook.url(), token: 'kept' });
    await eventually(() => expect(hook.received.length).toBeGreaterThan(2));
    await first.close({ graceMs: 0 });
    const before = hook.received.length;
    isUp = true;
    servePushing(open());
    await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
    // What the first one was at when it was stopped may have arrived twice.
    expect([...new Set(hook.acknowledged)]).toEqual(heard);
    const late = hook.received.slice(before);
    expect(new Set(late.map(({ headers }) => headers['x-a2a-notification-token']))).toEqual(
      new Set(['kept']),
    );
    expect(late[0]?.id).toBe(hook.received[before - 1]?.id);
  });

  it('hands what it was at to another server at once when it closes, and counts that as no failure', async () => {
    const open = create_();
    let isUp = false;
    const hook = await webhook(() => (isUp ? 200 : () => {}));
    const unhurried = {
      timeoutMs: 60_000,
      retry: { baseDelayMs: 3_600_000, maxDelayMs: 3_600_000, maxAttempts: 1 },
    };
    const first = servePushing(open(), unhurried);
    await send(first, { url: hook.url() });
    await eventually(() => expect(hook.received).toHaveLength(1));
    isUp = true;
    await first.close({ graceMs: 0 });
    const second = servePushing(open(), unhurried);
    await hook.until(heard.length);
    expect([await second.push.deadLetters(), hook.received[1]?.id]).toEqual([[], hook.received[0]?.id]);
  });

  it('does not let a webhook that never answers delay any other [R-PUSH-28]', async () => {
    const hanging = await webhook(() => () => {});
    const hook = await webhook();
    const server = servePushing(create_()(), { concurrency: 4, timeoutMs: 60_000 });
    for (let n = 0; n < 12; n++) await send(server, { url: hanging.url(`/${n}`) });
    await eventually(() => expect(hanging.received.length).toBeGreaterThan(0));
    for (let n = 0; n < 5; n++) await send(server, { url: hook.url(`/${n}`) });
    await hook.until(5 * heard.length);
    // None of them has been given up meanwhile: they all still hold what they had.
    expect(hanging.received.length).toBeLessThanOrEqual(2);
  });

  it('starts when it is notified, without waiting for the next sweep', async () => {
    const hook = await webhook();
    // Time does not pass: a sleep ends only when it is aborted.
    const sleep = (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) resolve();
        signal?.addEventListener('abort', () => resolve());
      });
    const server = servePushing(create_()(), {}, { clock: { sleep } });
    await send(server, { url: hook.url() });
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
  });

  it('drops queued deliveries when the webhook is deleted [R-PUSH-07]', async () => {
    let finish = () => {};
    const hook = await webhook(({ path }) => {
      if (path !== '/gone') return 200;
      return (response) => {
        finish = () => response.writeHead(200).end();
      };
    });
    const server = servePushing(create_()());
    const { id } = await send(server, { id: 'gone', url: hook.url('/gone') });
    await eventually(() => expect(hook.received).toHaveLength(1));
    await rpc(server, 'DeleteTaskPushNotificationConfig', { taskId: id, id: 'gone' });
    finish();
    // Deliveries of others that start and end after it: had there been more to deliver, it would have come before them.
    for (let n = 0; n < 3; n++) await send(server, { url: hook.url('/other') });
    await hook.until(3 * heard.length);
    expect(hook.received.filter(({ path }) => path === '/gone')).toHaveLength(1);
  });

  it('lists what it gave up, and delivers all of it on request [R-PUSH-27]', async () => {
    let status = 403;
    const hook = await webhook(() => status);
    const server = servePushing(create_()());
    const { id } = await send(server, { id: 'w', url: hook.url('/hook?secret=1') });
    const letters = await eventually(async () => {
      const found = await server.push.deadLetters();
      expect(found).toHaveLength(1);
      return found;
    });
    expect(letters).toEqual([
      { scope, taskId: id, id: 'w', url: hook.url(), reason: 'answered 403, 1 attempt', cursor: 0 },
    ]);
    expect(hook.received).toHaveLength(1);
    status = 200;
    expect(await server.push.redeliver(letters[0]!)).toBe(true);
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
    expect(hook.received[0]?.id).toBe(hook.received[1]?.id);
    expect([await server.push.deadLetters(), await server.push.redeliver(letters[0]!)]).toEqual([[], false]);
  });

  it('ignores the webhook of a message that is answered with a message [R-SEND-16]', async () => {
    const hook = await webhook();
    const store = create_()();
    const server = servePushing(
      store,
      {},
      { agent: ({ text }) => (text === 'hi' ? reply('Hello') : (chatty as never)) },
    );
    const configuration = { taskPushNotificationConfig: { url: hook.url('/never') } };
    const { message } = await rpc(server, 'SendMessage', { message: say('hi'), configuration });
    expect(message.parts).toEqual([{ text: 'Hello' }]);
    const { tasks } = await store.list(scope, { limit: 10, answered: true });
    await eventually(async () => {
      expect(await store.listPushConfigs(scope, tasks[0]!.taskId, { limit: 10 })).toEqual([]);
    });
    expect(hook.received).toEqual([]);
  });

  it('delivers from a worker too', async () => {
    const open = create_();
    const hook = await webhook();
    const front = servePushing(open(), {}, { run: 'workers' });
    const worker = createWorker({
      agent: chatty,
      store: open(),
      push: quick,
      logger: () => {},
      timeouts: { leaseMs: 1_000 },
    });
    await send(front, { url: hook.url() });
    await front.close({ graceMs: 0 });
    await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
    // What the front was at when it was stopped may have arrived twice.
    expect([...new Set(hook.acknowledged)]).toEqual(heard);
    await worker.close();
  });

  it('delivers what happened last before it closes', async () => {
    const open = create_();
    const hook = await webhook();
    const { agent, letGo } = gatedAgent();
    const server = servePushing(open(), {}, { agent });
    const task = await begin(server);
    await create(server, { taskId: task.id, url: hook.url() });
    const closing = server.close({ graceMs: 10_000 });
    letGo();
    await closing;
    expect(hook.acknowledged.at(-1)).toBe('COMPLETED');
  });
});

describe('closing', () => {
  it('delivers too what happened while a delivery was under way', async () => {
    const held = Promise.withResolvers<ServerResponse>();
    const hook = await webhook((_, before) => (before === 0 ? held.resolve : 200));
    const store = memoryStore();
    let isClosing = false;
    const watched = change(store, {
      claimDeliveries: (claim) => async (request) => {
        const deliveries = await claim(request);
        // The closing server has read the log, while the webhook has not answered yet.
        if (isClosing) setImmediate(answer);
        return deliveries;
      },
    });
    const answer = async () => {
      const response = await held.promise;
      if (!response.headersSent) response.writeHead(200).end();
    };
    const { agent, letGo } = gatedAgent();
    const server = servePushing(watched, {}, { agent });
    const { id } = await send(server, { url: hook.url() }, { returnImmediately: true });
    await held.promise;
    letGo();
    await eventually(async () => {
      expect((await rpc(server, 'GetTask', { id })).status.state).toBe('TASK_STATE_COMPLETED');
    });
    isClosing = true;
    await server.close({ graceMs: 60_000 });
    expect(hook.acknowledged).toEqual(['COMPLETED']);
  });

  it('does not wait for a webhook that is tried again later', async () => {
    const hook = await webhook(() => 503);
    const server = servePushing(memoryStore(), { retry: { baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 } });
    await send(server, { url: hook.url() });
    await eventually(() => expect(hook.received).toHaveLength(1));
    await server.close({ graceMs: 3_600_000 });
    expect(hook.received).toHaveLength(1);
  });
});

describe('a webhook', () => {
  it('gets its credentials and its token [R-PUSH-22] [R-PUSH-23]', async () => {
    const hook = await webhook();
    const authentication = { scheme: 'Basic', credentials: 'dXNlcjpwYXNz' };
    await send(servePushing(memoryStore()), { url: hook.url(), token: 'tok', authentication });
    await hook.until(heard.length);
    for (const { headers } of hook.received) {
      expect(headers).toMatchObject({
        authorization: 'Basic dXNlcjpwYXNz',
        'x-a2a-notification-token': 'tok',
      });
    }
  });

  it.each([
    ['never ends', (response: ServerResponse) => void response.writeHead(200).write('thank you for')],
    [
      'is endless',
      (response: ServerResponse) => {
        response.writeHead(200);
        const more = () => response.destroyed || response.write('x'.repeat(10_000), more);
        more();
      },
    ],
  ])('has got an update when it says so, though its answer %s', async (_what, answer) => {
    const hook = await webhook(() => answer);
    const timeoutMs = 54_321;
    const sleep = untilAnswered(timeoutMs);
    const server = servePushing(memoryStore(), { timeoutMs }, { clock: { sleep } });
    const { id } = await send(server, { id: 'w', url: hook.url() });
    await eventually(() => expect(hook.received).toHaveLength(heard.length));
    expect(new Set(idsOf(hook.received)).size).toBe(heard.length);
    expect(await rpc(server, 'ListTaskPushNotificationConfigs', { taskId: id })).toMatchObject({
      configs: [{}],
    });
  });

  it('that was registered later gets what happens from then on [R-PUSH-31]', async () => {
    const hook = await webhook();
    const { agent, letGo } = gatedAgent();
    const server = servePushing(memoryStore(), {}, { agent });
    const task = await begin(server);
    await eventually(async () => {
      expect((await rpc(server, 'GetTask', { id: task.id })).status.state).toBe('TASK_STATE_WORKING');
    });
    await create(server, { taskId: task.id, url: hook.url() });
    letGo();
    await hook.until(1);
    expect(hook.acknowledged).toEqual(['COMPLETED']);
  });

  it('that takes the place of another also takes over what that one did not get [R-PUSH-03] [R-PUSH-24]', async () => {
    const broken = await webhook(() => 503);
    const hook = await webhook();
    const server = servePushing(memoryStore());
    const { id } = await send(server, { id: 'w', url: broken.url() });
    await eventually(() => expect(broken.received.length).toBeGreaterThan(1));
    await create(server, { taskId: id, id: 'w', url: hook.url() });
    await hook.until(heard.length);
    expect(hook.acknowledged).toEqual(heard);
    expect(hook.received[0]?.id).toBe(broken.received[0]?.id);
  });

  it('of a follow-up gets what follows its message [R-SEND-16]', async () => {
    const hook = await webhook();
    const agent = taskAgent(async function* ({ messages }) {
      if (messages.length === 1) return yield inputRequired('Which?');
      yield completed();
    });
    const server = servePushing(memoryStore(), {}, { agent });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    const message = say('that', { taskId: task.id });
    const configuration = { taskPushNotificationConfig: { url: hook.url() } };
    await rpc(server, 'SendMessage', { message, configuration });
    await hook.until(2);
    expect(hook.acknowledged).toEqual(['WORKING', 'COMPLETED']);
  });

  it('of a send that is repeated is one webhook, and is not disturbed [R-SEND-16]', async () => {
    const held = Promise.withResolvers<ServerResponse>();
    const hook = await webhook(({ path }, before) => (path === '/hook' && before === 0 ? held.resolve : 200));
    const server = servePushing(memoryStore(), {}, { messages: { idempotency: true } });
    const message = say('go');
    const configuration = { taskPushNotificationConfig: { url: hook.url() } };
    const { task } = await rpc(server, 'SendMessage', { message, configuration });
    const response = await held.promise;
    expect((await rpc(server, 'SendMessage', { message, configuration })).task.id).toBe(task.id);
    response.writeHead(200).end();
    await hook.until(heard.length - 1);
    const { configs } = await rpc(server, 'ListTaskPushNotificationConfigs', { taskId: task.id });
    expect(configs).toEqual([{ id: configs[0].id, taskId: task.id, url: hook.url() }]);
    expect(hook.received).toHaveLength(heard.length);
    expect(new Set(idsOf(hook.received)).size).toBe(heard.length);
  });

  it('of a task that was erased with its caller and made again does not meet its old deliveries again [R-PUSH-30]', async () => {
    const hook = await webhook();
    const store = memoryStore();
    const server = servePushing(store, {}, { messages: { idempotency: true } });
    const message = say('go');
    const configuration = { taskPushNotificationConfig: { url: hook.url() } };
    const { task } = await rpc(server, 'SendMessage', { message, configuration });
    await hook.until(heard.length);
    await eventually(async () => expect(await server.prune({ closedBefore: Date.now() + 60_000 })).toBe(1));
    for (const { name } of await store.listRecords({ prefix: deletionsOf(scope), limit: 9 }))
      await store.deleteRecord(name);
    expect((await rpc(server, 'SendMessage', { message, configuration })).task.id).toBe(task.id);
    await hook.until(2 * heard.length);
    expect(new Set(idsOf(hook.received)).size).toBe(2 * heard.length);
  });

  it('of a streaming send is in place before its first event [R-SEND-16]', async () => {
    const hook = await webhook();
    const { agent, letGo } = gatedAgent();
    const store = memoryStore();
    const server = servePushing(store, {}, { agent });
    const { stream } = await import('../../../../test/kit/rpc.ts');
    const configuration = { taskPushNotificationConfig: { id: 'w', url: hook.url() } };
    for await (const { event } of stream(server, 'SendStreamingMessage', {
      message: say('go'),
      configuration,
    })) {
      if (!('task' in event)) break;
      expect(await store.getPushConfig(scope, event.task.id, 'w')).toBeDefined();
    }
    letGo();
    await hook.until(2);
    expect(hook.acknowledged).toEqual(['WORKING', 'COMPLETED']);
  });

  it.each([
    ['all', ['WORKING', 'essay:once', 'essay:upon', 'essay:a time', 'COMPLETED']],
    ['default', heard],
    ['significant', ['COMPLETED']],
  ] as const)('gets %s of the updates if that is wanted [R-PUSH-25]', async (updates, expected) => {
    const hook = await webhook();
    await send(servePushing(memoryStore(), { updates }), { url: hook.url() });
    await hook.until(expected.length);
    expect(hook.acknowledged).toEqual(expected);
  });

  it('that was registered in another version gets bodies of that version [R-PUSH-29]', async () => {
    const hook = await webhook();
    const store = memoryStore();
    const format = {
      version: '0.3',
      mediaType: 'application/json',
      encode: (event: object) => JSON.stringify({ ...Object.values(event)[0], kind: Object.keys(event)[0] }),
    };
    const { agent, letGo } = gatedAgent();
    const old: ServerCompatibility = {
      bindings: [],
      pushFormat: format,
      impliedVersion: () => undefined,
      encodeCard: () => undefined,
    };
    const server = servePushing(store, {}, { agent, compatibility: [old] });
    const { id: taskId } = await begin(server);
    const config = { taskId, id: 'old', url: hook.url() };
    await store.putPushConfig(registered(config, '0.3'));
    letGo();
    await eventually(() => expect(hook.received).toHaveLength(2));
    expect(hook.received[1]?.headers).toMatchObject({
      'content-type': 'application/json',
      'a2a-version': '0.3',
    });
    expect(hook.received[1]?.event).toMatchObject({ kind: 'statusUpdate', taskId });
  });

  it('of a version that this process does not know waits for one that does [R-PUSH-29]', async () => {
    const hook = await webhook();
    const store = memoryStore();
    const server = servePushing(store, { retry: { maxAttempts: 3 } });
    const { id: taskId } = await rpc(server, 'SendMessage', { message: say('go') }).then(({ task }) => task);
    const config = { taskId, id: 'odd', url: hook.url() };
    await store.putPushConfig(registered(config, '9.9'));
    await eventually(async () => {
      expect(await server.push.deadLetters()).toMatchObject([
        { reason: 'no format for version 9.9, 3 attempts' },
      ]);
    });
    expect(hook.received).toEqual([]);
  });
});
