import { connect } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { v03Client } from '../src/index.ts';

type Client = Awaited<ReturnType<typeof connect>>;

const compatibility = [v03Client()];
const hi = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'Hi' }] };
const card = {
  url: 'http://agent.example/',
  name: 'Old',
  description: '',
  version: '1',
  capabilities: { streaming: true },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

/** A client of an agent that answers every call with this. */
const client = (answer: (request: Request) => Response | Promise<Response>, more: object = {}) =>
  connect({ ...card, ...more } as never, {
    compatibility,
    retry: false,
    fetch: async (request) => answer(request),
  });
const json = (body: unknown, status = 200) => Response.json(body, { status });
const result = (value: unknown) => json({ jsonrpc: '2.0', id: 1, result: value });

/** A stream that stays open after these events. */
const open = (...events: object[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const event of events)
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  );
const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'Hi' }] };
const update = (state: string, final: boolean) => ({
  kind: 'status-update',
  taskId: 't',
  contextId: 'c',
  status: { state },
  final,
});

describe('a client of both versions', () => {
  const offered = async (supportedInterfaces: object[], options: object = {}) => {
    const asked: string[] = [];
    const agent = await connect({ ...card, url: undefined, supportedInterfaces } as never, {
      compatibility,
      retry: false,
      fetch: async (request) => {
        asked.push(`${request.headers.get('a2a-version')} ${request.url}`);
        return Promise.reject(new TypeError('fetch failed'));
      },
      ...options,
    });
    await agent.getTask({ id: 't' }).catch(() => {});
    return asked;
  };
  const at = (protocolVersion: string, protocolBinding = 'JSONRPC') => ({
    url: `http://agent.example/${protocolVersion}`,
    protocolBinding,
    protocolVersion,
  });

  it('takes 0.3 only where it cannot take 1.0, whatever the order of the card', async () => {
    const newer = ['1.0 http://agent.example/1.0'];
    const older = ['0.3 http://agent.example/0.3'];
    expect(await offered([at('0.3'), at('1.0')])).toEqual(newer);
    expect(await offered([at('1.0'), at('0.3')])).toEqual(newer);
    expect(await offered([at('0.3'), at('1.0', 'GRPC')])).toEqual(older);
    expect(await offered([at('0.3')])).toEqual(older);
    expect(await offered([at('0.3'), at('1.0')], { version: '0.3' })).toEqual(older);
  });
});

describe('a client of an agent of 0.3', () => {
  it.each([
    ['JSONRPC', (event: object) => ({ jsonrpc: '2.0', id: 1, result: event })],
    ['HTTP+JSON', (event: object) => event],
  ])(
    'ends a stream on %s at the final event, also if the agent leaves it open',
    async (preferredTransport, wrap) => {
      const agent = await client(
        () => open(wrap(update('working', false)), wrap(update('input-required', true))),
        { preferredTransport },
      );
      const states: unknown[] = [];
      for await (const event of agent.sendStreamingMessage({ message }))
        if ('statusUpdate' in event) states.push(event.statusUpdate.status.state);
      expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED']);
    },
  );

  it.each([
    [
      'a task in the spelling of the protocol buffers',
      {
        task: {
          id: 't',
          context_id: 'c',
          status: { state: 'TASK_STATE_CANCELLED', update: { role: 'ROLE_AGENT', content: [{ text: 'x' }] } },
        },
      },
      'TASK_STATE_CANCELED',
    ],
    [
      'a task without `kind`',
      { id: 't', contextId: 'c', status: { state: 'INPUT_REQUIRED', message: null } },
      'TASK_STATE_INPUT_REQUIRED',
    ],
    [
      'an unknown state',
      { kind: 'task', id: 't', contextId: 'c', status: { state: 'paused' } },
      'TASK_STATE_UNSPECIFIED',
    ],
  ])('understands %s', async (_, value, state) => {
    const { task } = await (await client(() => result(value))).send('Hi');
    expect(task).toMatchObject({ id: 't', status: { state } });
  });

  it('reads times without a zone as UTC', async () => {
    const status = { state: 'completed', timestamp: '2025-05-17T07:06:08' };
    const agent = await client(() => result({ kind: 'task', id: 't', contextId: 'c', status }));
    expect((await agent.getTask({ id: 't' })).status.timestamp).toBe('2025-05-17T07:06:08.000Z');
  });

  it.each([
    ['nothing', { jsonrpc: '2.0', id: 1, result: null }],
    ['a task without a status', { jsonrpc: '2.0', id: 1, result: { kind: 'task', id: 't' } }],
    ['text', 'no object'],
  ])('refuses %s', async (_, body) => {
    const agent = await client(() => json(body));
    await expect(agent.getTask({ id: 't' })).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
    await expect(agent.send('Hi')).rejects.toMatchObject({ reason: 'INVALID_AGENT_RESPONSE' });
  });

  it.each([
    [{ code: -32001, message: 'Gone' }, 200, 'TASK_NOT_FOUND', undefined],
    [
      { code: -32001, message: 'Gone', data: { taskId: 't', tries: 2 } },
      200,
      'TASK_NOT_FOUND',
      { taskId: 't', tries: '2' },
    ],
    [{ code: -32600, message: 'Who are you?' }, 401, 'UNAUTHENTICATED', undefined],
    [{ code: -32099, message: 'Odd', data: 'odd' }, 200, 'INTERNAL_ERROR', undefined],
  ])('restores the error %o with status %i', async (error, status, reason, metadata) => {
    const agent = await client(() => json({ jsonrpc: '2.0', id: 1, error }, status));
    await expect(agent.getTask({ id: 't' })).rejects.toMatchObject({
      reason,
      message: error.message,
      metadata,
    });
    const rest = await client(() => json(error, status === 200 ? 400 : status), {
      preferredTransport: 'HTTP+JSON',
    });
    await expect(rest.getTask({ id: 't' })).rejects.toMatchObject({ message: error.message, metadata });
  });

  // The body is what servers of the official Python SDK write.
  it.each<[status: number, reason: string, (agent: Client) => Promise<unknown>]>([
    [404, 'TASK_NOT_FOUND', (agent) => agent.getTask({ id: 't' })],
    [404, 'TASK_NOT_FOUND', (agent) => agent.cancelTask({ id: 't' })],
    [404, 'TASK_NOT_FOUND', (agent) => agent.send({ ...hi, taskId: 't' })],
    [404, 'TASK_NOT_FOUND', (agent) => agent.getTaskPushNotificationConfig({ taskId: 't', id: 'w' })],
    [404, 'METHOD_NOT_FOUND', (agent) => agent.send(hi)],
    [404, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', (agent) => agent.getExtendedAgentCard({})],
    [409, 'TASK_NOT_CANCELABLE', (agent) => agent.cancelTask({ id: 't' })],
    [415, 'CONTENT_TYPE_NOT_SUPPORTED', (agent) => agent.send(hi)],
    [422, 'INVALID_PARAMS', (agent) => agent.send(hi)],
    [501, 'UNSUPPORTED_OPERATION', (agent) => agent.cancelTask({ id: 't' })],
    [
      501,
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
      (agent) => agent.listTaskPushNotificationConfigs({ taskId: 't' }),
    ],
    [502, 'INVALID_AGENT_RESPONSE', (agent) => agent.send(hi)],
    [500, 'INTERNAL_ERROR', (agent) => agent.getTask({ id: 't' })],
  ])('takes a %i without a code for %s', async (status, reason, call) => {
    const more = {
      preferredTransport: 'HTTP+JSON',
      supportsAuthenticatedExtendedCard: true,
      capabilities: { streaming: true, pushNotifications: true },
    };
    const agent = await client(() => json({ message: 'As it says' }, status), more);
    await expect(call(agent)).rejects.toMatchObject({
      reason,
      message: expect.stringContaining('As it says'),
    });
  });

  it('does not take the 404 of a proxy for a task that is missing', async () => {
    const agent = await client(() => new Response('<html>', { status: 404 }), {
      preferredTransport: 'HTTP+JSON',
    });
    await expect(agent.getTask({ id: 't' })).rejects.toMatchObject({ reason: 'METHOD_NOT_FOUND' });
  });

  it.each(['JSONRPC', 'HTTP+JSON'])(
    'restores an error in the middle of a stream on %s',
    async (preferredTransport) => {
      const isRpc = preferredTransport === 'JSONRPC';
      const error = { code: -32603, message: 'Broken' };
      const first = update('working', false);
      const agent = await client(
        () =>
          isRpc
            ? open({ jsonrpc: '2.0', id: 1, result: first }, { jsonrpc: '2.0', id: 1, error })
            : open(first, error),
        { preferredTransport },
      );
      const listen = async () => {
        for await (const _ of agent.sendStreamingMessage({ message }));
      };
      await expect(listen()).rejects.toMatchObject({ reason: 'INTERNAL_ERROR', message: 'Broken' });
    },
  );

  it('says which extensions it wants in the header of 0.3 [R-HDR-03]', async () => {
    let seen: Headers | undefined;
    const agent = await client((request) => {
      seen = request.headers;
      return result({ kind: 'task', id: 't', contextId: 'c', status: { state: 'working' } });
    });
    await agent.getTask({ id: 't' }, { extensions: ['urn:mood'] });
    expect([seen?.get('x-a2a-extensions'), seen?.get('a2a-extensions'), seen?.get('a2a-version')]).toEqual([
      'urn:mood',
      null,
      '0.3',
    ]);
  });
});
