import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { A2AError } from '@batonjs/protocol/errors';
import { completed, createAgentServer, taskAgent, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AgentEvent, connect } from '../../src/index.ts';
import {
  type SeenDeliveries,
  seenDeliveries,
  type WebhookReceiver,
  type WebhookReceiverOptions,
  webhookReceiver,
} from '../../src/webhooks/webhook-receiver.ts';

const token = 'agreed';
const update = (taskId = 't', state = 'TASK_STATE_COMPLETED') => ({
  statusUpdate: { taskId, contextId: 'c', status: { state } },
});

interface Delivered {
  readonly method?: string;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: unknown;
}

/** A receiver of task `t` and its events, called directly or through Express. */
const receiverOf = (options: Partial<WebhookReceiverOptions> = {}) => {
  const events: AgentEvent[] = [];
  const errors: unknown[] = [];
  const receiver = webhookReceiver({
    token,
    expects: (taskId) => taskId === 't',
    onEvent: (event) => void events.push(event),
    onError: (error) => void errors.push(error),
    ...options,
  });
  return { receiver, events, errors };
};

const requestOf = ({ method = 'POST', headers = {}, body = update() }: Delivered, url: string) => {
  const all = { 'content-type': 'application/a2a+json', 'x-a2a-notification-token': token, ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Request(url, { method, headers: given, ...(method !== 'GET' && { body: text }) });
};

async function listen(app: ReturnType<typeof express>): Promise<string> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

const mounts: readonly (readonly [
  string,
  (receiver: WebhookReceiver) => Promise<(sent?: Delivered) => Promise<Response>>,
])[] = [
  [
    'fetch',
    async (receiver) =>
      (sent = {}) =>
        receiver.fetch(requestOf(sent, 'http://localhost/hook')),
  ],
  [
    'Express',
    async (receiver) => {
      const url = await listen(express().all('/hook', receiver.handle));
      return (sent = {}) => fetch(requestOf(sent, url));
    },
  ],
  [
    'Express behind express.json()',
    async (receiver) => {
      const json = express.json({
        type: ['application/json', 'application/a2a+json'],
        limit: '50mb',
        strict: false,
      });
      const url = await listen(express().use(json).all('/hook', receiver.handle));
      return (sent = {}) => fetch(requestOf(sent, url));
    },
  ],
];

describe.each(mounts)('through %s', (mount, mounted) => {
  it.each([
    ['a status', update()],
    [
      'an artifact',
      { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
    ],
    ['a task', { task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } }],
    ['a message', { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'hi' }], taskId: 't' } }],
  ])('hands over %s [R-PUSH-42] [R-PUSH-20]', async (_what, body) => {
    const { receiver, events } = receiverOf();
    const send = await mounted(receiver);
    expect((await send({ body })).status).toBe(200);
    expect(events).toEqual([body]);
  });

  it('takes the token from the header that agents on the Go SDK use [R-PUSH-23]', async () => {
    const { receiver, events } = receiverOf();
    const send = await mounted(receiver);
    const as = (header: string, value: string) => ({
      headers: { 'x-a2a-notification-token': undefined, [header]: value },
    });
    expect((await send(as('a2a-notification-token', token))).status).toBe(200);
    expect((await send(as('a2a-notification-token', 'guessed'))).status).toBe(401);
    const both = { 'x-a2a-notification-token': 'guessed', 'a2a-notification-token': token };
    expect((await send({ headers: both })).status).toBe(401);
    expect(events).toHaveLength(1);
  });

  it('reads both media types [R-PUSH-21]', async () => {
    const { receiver, events } = receiverOf();
    const send = await mounted(receiver);
    for (const type of ['application/json; charset=utf-8', 'Application/A2A+JSON'])
      expect((await send({ headers: { 'content-type': type } })).status).toBe(200);
    expect(events).toHaveLength(2);
  });

  it.each<[string, number, Delivered]>([
    ['a wrong token [R-PUSH-42]', 401, { headers: { 'x-a2a-notification-token': 'guessed' } }],
    ['no token [R-PUSH-42]', 401, { headers: { 'x-a2a-notification-token': undefined } }],
    ['a token with more to it', 401, { headers: { 'x-a2a-notification-token': `${token}, ${token}` } }],
    ['a task that is not expected [R-PUSH-42]', 404, { body: update('other') }],
    ['another method', 405, { method: 'GET' }],
    ['another media type', 415, { headers: { 'content-type': 'text/plain' } }],
    [
      'two events, one of a task that is not expected [R-PUSH-20]',
      400,
      { body: { ...update('other'), task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } } },
    ],
    ['an event of no task', 400, { body: { statusUpdate: { status: { state: 'TASK_STATE_WORKING' } } } }],
    ['a task id that is no text', 400, { body: { statusUpdate: { taskId: 5, status: {} } } }],
    ['a list', 400, { body: [] }],
    ['null', 400, { body: 'null' }],
    ['an update without content', 400, { body: { statusUpdate: {} } }],
  ])('refuses %s with %i', async (_what, status, sent) => {
    const { receiver, events, errors } = receiverOf();
    const send = await mounted(receiver);
    const response = await send(sent);
    expect([response.status, events, errors]).toEqual([status, [], []]);
    if (status === 405) expect(response.headers.get('allow')).toBe('POST');
    expect((await send()).status).toBe(200);
  });

  it.runIf(mount !== 'Express behind express.json()').each<[string, number, Delivered]>([
    ['no JSON', 400, { body: '{' }],
    ['nothing', 400, { body: '' }],
    ['more than it may be', 413, { body: update('t'.repeat(2_000)) }],
    ['far more than it may be', 413, { body: update('t'.repeat(20_000_000)) }],
  ])('refuses %s with %i', async (_what, status, sent) => {
    const { receiver, events } = receiverOf({ maxBytes: 1_000 });
    const send = await mounted(receiver);
    expect([(await send(sent)).status, events]).toEqual([status, []]);
    expect((await send()).status).toBe(200);
  });

  it('hands over each delivery once, also when it comes twice at once [R-PUSH-43] [R-PUSH-30]', async () => {
    const gate = Promise.withResolvers<void>();
    const seen: AgentEvent[] = [];
    const { receiver } = receiverOf({
      onEvent: async (event) => {
        seen.push(event);
        await gate.promise;
      },
    });
    const send = await mounted(receiver);
    const headers = { 'webhook-id': 'd-1' };
    const both = [send({ headers }), send({ headers })];
    await vi.waitFor(() => expect(seen).toHaveLength(1), { timeout: 15_000 });
    gate.resolve();
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await send({ headers })).status).toBe(200);
    expect((await send({ headers: { 'webhook-id': 'd-2' } })).status).toBe(200);
    expect(seen).toHaveLength(2);
  });

  it('lets the agent try again what could not be dealt with [R-PUSH-43]', async () => {
    let works = false;
    const events: AgentEvent[] = [];
    const { receiver, errors } = receiverOf({
      onEvent: (event) => {
        if (!works) throw new Error('The database is down');
        events.push(event);
      },
    });
    const send = await mounted(receiver);
    const headers = { 'webhook-id': 'd-1' };
    expect((await send({ headers })).status).toBe(500);
    works = true;
    expect((await send({ headers })).status).toBe(200);
    expect([events.length, errors]).toEqual([1, [new Error('The database is down')]]);
  });
});

describe('the sender is verified', () => {
  const guessed = { 'x-a2a-notification-token': 'guessed' };
  const authentication = { scheme: 'Bearer', credentials: 'c' };

  it.each<[string, Partial<WebhookReceiverOptions>, Record<string, string>]>([
    ['a wrong token', {}, guessed],
    ['no token of its task', { token: () => token }, {}],
    ['wrong credentials', { token: undefined as never, authentication }, { authorization: 'Bearer d' }],
    ['no credentials of its task', { authentication: () => authentication }, guessed],
  ])('before a body is read, with %s', async (_, options, headers) => {
    let isRead = false;
    const body = new ReadableStream(
      {
        pull(controller) {
          isRead = true;
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request('http://localhost/hook', {
      ...{ method: 'POST', body, duplex: 'half' },
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect([(await receiverOf(options).receiver.fetch(request)).status, isRead]).toEqual([401, false]);
  });

  it('and what it says is read within limits', async () => {
    const { receiver, events } = receiverOf();
    const deep = `{"statusUpdate":{"taskId":"t","status":{"state":"x"}},"x":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
    expect((await receiver.fetch(requestOf({ body: deep }, 'http://localhost/hook'))).status).toBe(400);
    expect(events).toEqual([]);
  });

  const post = async (options: Partial<WebhookReceiverOptions>, sent: Delivered) =>
    (await receiverOf(options).receiver.fetch(requestOf(sent, 'http://localhost/'))).status;

  it.each([
    ['Bearer abc', 200],
    ['bearer abc', 200],
    ['Bearer abd', 401],
    ['Bearer', 401],
    ['Basic abc', 401],
    ['abc', 401],
    [undefined, 401],
  ])('by its credentials: %s is answered %i [R-PUSH-42] [R-PUSH-22]', async (authorization, status) => {
    const authentication = { scheme: 'Bearer', credentials: 'abc' };
    expect(await post({ token: undefined, authentication }, { headers: { authorization } })).toBe(status);
  });

  it.each([
    ['both', 'Bearer abc', token, 200],
    ['credentials alone, as the SDK for JavaScript sends them', 'Bearer abc', undefined, 200],
    ['credentials and a wrong token', 'Bearer abc', 'guessed', 401],
    ['the token alone', undefined, token, 401],
    ['the token and wrong credentials', 'Bearer abd', token, 401],
    ['neither', undefined, undefined, 401],
  ])('by %s, where it has a token and credentials [R-PUSH-42]', async (_, authorization, sent, status) => {
    const authentication = { scheme: 'Bearer', credentials: 'abc' };
    const headers = { authorization, 'x-a2a-notification-token': sent };
    expect(await post({ authentication }, { headers })).toBe(status);
  });

  it('by the secrets of its task [R-PUSH-09]', async () => {
    const tokens: Record<string, string> = { t: 'of-t', u: 'of-u' };
    const options = { token: async (taskId: string) => tokens[taskId], expects: () => true };
    const headers = { 'x-a2a-notification-token': 'of-t' };
    expect(await post(options, { headers })).toBe(200);
    expect(await post(options, { headers, body: update('u') })).toBe(401);
    expect(await post(options, { headers, body: update('v') })).toBe(401);
    expect(
      await post(options, { headers: { 'x-a2a-notification-token': 'undefined' }, body: update('v') }),
    ).toBe(401);
  });

  it.each<[string, WebhookReceiverOptions['verify'], number]>([
    ['says yes', () => true, 200],
    ['says who it was', async () => ({ iss: 'agent' }), 200],
    ['says no', async () => false, 401],
    ['rejects', () => Promise.reject(new Error('Bad signature')), 401],
    [
      'throws',
      () => {
        throw new Error('Bad signature');
      },
      401,
    ],
    [
      'cannot decide now',
      () => {
        throw new A2AError('UNAVAILABLE');
      },
      500,
    ],
  ])('by a hook that %s [R-PUSH-42] [R-PUSH-44]', async (_how, verify, status) => {
    expect(await post({ token: undefined, verify }, {})).toBe(status);
    expect(await post({ verify }, { headers: { 'x-a2a-notification-token': 'guessed' } })).toBe(401);
  });

  it('to the hook with the body as it arrived', async () => {
    const body = ' {"statusUpdate" : {"taskId":"t", "status":{"state":"TASK_STATE_WORKING"} } }';
    const deliveries: unknown[] = [];
    const verify: WebhookReceiverOptions['verify'] = ({ headers, ...delivery }) => {
      deliveries.push({ ...delivery, token: headers.get('X-A2A-Notification-Token') });
    };
    expect(await post({ verify }, { body, headers: { 'webhook-id': 'd-1' } })).toBe(200);
    expect(deliveries).toEqual([{ taskId: 't', id: 'd-1', body, token }]);
  });

  it('or there is no receiver', () => {
    expect(() => webhookReceiver({ expects: () => true, onEvent: () => {} })).toThrow(TypeError);
  });
});

describe('handled deliveries', () => {
  it('is forgotten, oldest first, beyond a limit', async () => {
    const seen = seenDeliveries(2);
    for (const id of ['a', 'b', 'b', 'c']) await seen.add(id);
    expect(['a', 'b', 'c'].map((id) => seen.has(id))).toEqual([false, true, true]);
  });

  it('may be kept elsewhere, and while that does not answer nothing is handed over twice', async () => {
    const kept = new Set<string>();
    let isUp = true;
    const shared: SeenDeliveries = {
      has: async (id) => {
        if (!isUp) throw new Error('Down');
        return kept.has(id);
      },
      add: async (id) => void kept.add(id),
    };
    const [a, b] = [receiverOf({ seen: shared }), receiverOf({ seen: shared })];
    const request = () => requestOf({ headers: { 'webhook-id': 'd-1' } }, 'http://localhost/');
    expect((await a.receiver.fetch(request())).status).toBe(200);
    expect((await b.receiver.fetch(request())).status).toBe(200);
    isUp = false;
    expect((await b.receiver.fetch(request())).status).toBe(500);
    expect([a.events.length, b.events.length]).toEqual([1, 0]);
  });
});

it('receives what a server of ours delivers, from start to end [R-PUSH-20] [R-PUSH-42] [R-PUSH-44]', async () => {
  const authentication = { scheme: 'Bearer', credentials: 'secret' };
  const states: string[] = [];
  const mine = new Set<string>();
  const { receiver } = receiverOf({
    authentication,
    expects: (taskId) => mine.has(taskId),
    onEvent: ({ statusUpdate }) => states.push(statusUpdate?.status.state ?? '?'),
  });
  const url = await listen(express().post('/hook', receiver.handle));
  const gate = Promise.withResolvers<void>();
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    agent: taskAgent(async function* () {
      await gate.promise;
      yield working();
      yield completed();
    }),
    store: memoryStore(),
    push: { allow: ['127.0.0.1'] },
    logger: () => {},
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const agent = await connect('http://localhost/', { fetch: server.fetch });
  const { task } = await agent.send('go', {
    configuration: { returnImmediately: true, taskPushNotificationConfig: { url, token, authentication } },
  });
  mine.add(task?.id ?? '');
  gate.resolve();
  await vi.waitFor(() => expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']), {
    timeout: 15_000,
  });
  expect(await server.push.deadLetters()).toEqual([]);
});
