import { getEventListeners } from 'node:events';
import { type ConnectOptions, connect } from '@batonjs/client';
import { A2AError, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import { type OperationName, operationNames, type Params } from '@batonjs/protocol/operations';
import { describe, expect, it } from 'vitest';
import { bothBindings, cardOf, collect, ends, failureOf, peer, serve, taskIn } from './serve.ts';

const message = { messageId: 'm-1', role: 'ROLE_USER' as const, parts: [{ text: 'hello' }] };
const config = { taskId: 't-1', id: 'p-1', url: 'https://example.com/hook' };

/** The params and the result of every operation. */
const examples: { [Name in OperationName]: { params: Params<Name>; result: unknown } } = {
  SendMessage: { params: { message }, result: { task: taskIn('COMPLETED') } },
  SendStreamingMessage: { params: { message }, result: { message: { ...message, role: 'ROLE_AGENT' } } },
  GetTask: { params: { id: 't-1', historyLength: 0 }, result: taskIn('WORKING') },
  ListTasks: {
    params: { contextId: 'c-1', pageSize: 5, includeArtifacts: true },
    result: { tasks: [taskIn('WORKING')], nextPageToken: '', pageSize: 5, totalSize: 1 },
  },
  CancelTask: { params: { id: 't-1', metadata: { why: 'late' } }, result: taskIn('CANCELED') },
  SubscribeToTask: { params: { id: 't-1' }, result: { task: taskIn('WORKING') } },
  CreateTaskPushNotificationConfig: { params: config, result: config },
  GetTaskPushNotificationConfig: { params: { taskId: 't-1', id: 'p-1' }, result: config },
  ListTaskPushNotificationConfigs: { params: { taskId: 't-1', pageSize: 2 }, result: { configs: [config] } },
  DeleteTaskPushNotificationConfig: { params: { taskId: 't-1', id: 'p-1' }, result: {} },
  GetExtendedAgentCard: {
    params: {},
    result: cardOf([{ url: 'http://x', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]),
  },
};

type AnyMethod = (params: unknown, options?: unknown) => Promise<unknown> | AsyncIterable<unknown>;

/** Calls an operation and collects its result or events. */
async function perform(agent: Awaited<ReturnType<typeof connect>>, name: OperationName, params: unknown) {
  const method = agent[(name[0]!.toLowerCase() + name.slice(1)) as 'getTask'] as AnyMethod;
  const answer = method(params);
  return Symbol.asyncIterator in answer ? (await collect(answer))[0] : answer;
}

const once: ConnectOptions = { retry: false };

describe.each(['JSONRPC', 'HTTP+JSON'])('operations on %s', (binding) => {
  it.each<[OperationName, path: string, params: unknown]>([
    ['GetTask', 'historyLength', { id: 't-1', historyLength: Number.NaN }],
    ['ListTasks', 'pageSize', { pageSize: Number.POSITIVE_INFINITY }],
    ['SendMessage', 'configuration.historyLength', { message, configuration: { historyLength: Number.NaN } }],
    [
      'SendStreamingMessage',
      'message.parts.0.data.sums.1',
      { message: { ...message, parts: [{ data: { sums: [1, Number.NaN] } }] } },
    ],
  ])('%s is not asked with a number that JSON has not, in %s', async (name, path, params) => {
    const { url, calls } = await peer(({ result }) => result({}));
    const agent = await connect(url, { binding });
    const { reason, message: sentence } = await failureOf(perform(agent, name, params));
    expect([reason, sentence]).toEqual([
      'INVALID_PARAMS',
      `\`${path}\` is a number that is not finite: JSON has none`,
    ]);
    expect(calls).toEqual([]);
  });

  it.each(operationNames)(
    '%s is asked as it was called, and answers as it was answered [R-OP-01]',
    async (name) => {
      const { params, result } = examples[name];
      const { url, calls, headers } = await peer(({ result: reply, event, end, call }) => {
        if (call.operation !== 'SendStreamingMessage' && call.operation !== 'SubscribeToTask')
          return reply(result);
        event(result);
        return end();
      });
      const agent = await connect(url, { binding, headers: { 'x-trace': '7' } });
      expect(await perform(agent, name, params)).toEqual(result);
      expect(calls).toMatchObject([{ operation: name, params }]);
      expect(headers[0]).toMatchObject({ 'a2a-version': '1.0', 'x-trace': '7' });
      expect(headers[0]).not.toHaveProperty('a2a-extensions');
    },
  );

  it.each(operationNames)('%s carries the tenant of the interface [R-OP-09]', async (name) => {
    const { params, result } = examples[name];
    const { url, calls } = await peer(({ result: reply }) => reply(result), {
      card: (at) =>
        cardOf([{ url: at, protocolBinding: binding, protocolVersion: '1.0', tenant: 'acme & sons' }]),
    });
    await perform(await connect(url), name, params).catch(() => {});
    expect(calls[0]?.params).toMatchObject({ tenant: 'acme & sons' });
  });

  it('lists the extensions of the client and of the call in one header [R-HDR-02]', async () => {
    const { url, headers } = await peer(({ result }) => result(taskIn('WORKING')));
    const agent = await connect(url, { binding, extensions: ['https://e.example/1'] });
    await agent.getTask({ id: 't-1' }, { extensions: ['https://e.example/2', 'https://e.example/1'] });
    expect(headers[0]?.['a2a-extensions']).toBe('https://e.example/1, https://e.example/2');
  });

  it.each(Object.keys(errorTable) as ErrorReason[])('says %s by its reason', async (reason) => {
    const { url } = await peer(({ error }) =>
      error(new A2AError(reason, 'Because', { metadata: { a: '1' } })),
    );
    const agent = await connect(url, { binding, ...once });
    const error = await failureOf(agent.getTask({ id: 't-1' }));
    expect(A2AError.is(error)).toBe(true);
    expect(error).toMatchObject({ reason, message: 'Because', metadata: { a: '1' } });
  });

  it.each(['SendStreamingMessage', 'SubscribeToTask'] as const)(
    '%s reports an error before the first event, which is no stream [R-RPC-08]',
    async (name) => {
      const { url } = await peer(({ error }) => error(new A2AError('TASK_NOT_FOUND')));
      const agent = await connect(url, { binding });
      expect((await failureOf(perform(agent, name, examples[name].params))).reason).toBe('TASK_NOT_FOUND');
    },
  );

  it('reports an error in the middle of a stream after the events before it [R-STR-12]', async () => {
    const { url } = await peer(({ event, error }) => {
      event({ task: taskIn('WORKING') });
      error(new A2AError('INTERNAL_ERROR', 'Out of luck'));
    });
    const agent = await connect(url, { binding });
    const events: unknown[] = [];
    const reading = async () => {
      for await (const event of agent.sendStreamingMessage({ message })) events.push(event);
    };
    expect(await failureOf(reading())).toMatchObject({ reason: 'INTERNAL_ERROR', message: 'Out of luck' });
    expect(events).toEqual([{ task: taskIn('WORKING') }]);
  });

  it('takes an answer that is no stream for the only event of one', async () => {
    const { url } = await peer(({ result }) => result({ task: taskIn('COMPLETED') }));
    const agent = await connect(url, { binding });
    expect(await collect(agent.sendStreamingMessage({ message }))).toEqual([{ task: taskIn('COMPLETED') }]);
  });

  it('reads answers without the wrapper that they should have', async () => {
    const bare = [taskIn('COMPLETED'), { ...message, role: 'ROLE_AGENT' }];
    const { url } = await peer(({ result }) => result(bare.shift()));
    const agent = await connect(url, { binding });
    expect(await agent.send('a')).toEqual({ task: taskIn('COMPLETED') });
    expect(await agent.send('b')).toEqual({ message: { ...message, role: 'ROLE_AGENT' } });
  });

  it('passes on events of a kind that it does not know [R-11-31]', async () => {
    const { url } = await peer(ends([{ weather: 'fine' }], [{ task: taskIn('COMPLETED') }]));
    const agent = await connect(url, { binding });
    expect(await collect(agent.subscribeToTask({ id: 't-1' }))).toHaveLength(2);
    expect(await collect(agent.follow('t-1'))).toEqual([{ task: taskIn('COMPLETED') }]);
  });

  it.each([
    ['SendMessage', {}],
    ['SendMessage', { task: {} }],
    ['SendMessage', { task: { id: 't-1', status: {} } }],
    ['SendMessage', { message: { parts: 'none' } }],
    ['SendMessage', null],
    ['GetTask', { id: 7, status: { state: 'TASK_STATE_WORKING' } }],
    ['GetTask', 'a task'],
    ['CancelTask', []],
    ['ListTasks', { tasks: 'many' }],
    ['SubscribeToTask', { task: 'working' }],
    ['SubscribeToTask', { statusUpdate: { taskId: 't-1' } }],
    ['SubscribeToTask', { statusUpdate: { taskId: 't-1', status: {} } }],
    ['SubscribeToTask', { artifactUpdate: { artifact: { artifactId: 'a' } } }],
    ['SubscribeToTask', { message: 7 }],
  ] as const)('%s refuses %j as nonsense', async (name, nonsense) => {
    const { url } = await peer(({ call, result, event, end }) => {
      if (call.operation !== 'SubscribeToTask') return result(nonsense);
      event(nonsense);
      return end();
    });
    const agent = await connect(url, { binding, ...once });
    const error = await failureOf(perform(agent, name, examples[name].params));
    expect(error.reason).toBe('INVALID_AGENT_RESPONSE');
  });

  it('says that the connection broke, in the middle of an answer too', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"jsonrpc":"2.0",', () => response.socket?.destroy());
    });
    const agent = await connect(bothBindings(url), { binding, ...once });
    expect(await failureOf(agent.getTask({ id: 't-1' }))).toMatchObject({
      name: 'ClientError',
      code: 'NETWORK',
    });
  });

  it('refuses an answer that is too large while it is being read', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '.repeat(4096)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const agent = await connect(bothBindings(url), { binding, maxResponseBytes: 64 * 1024 });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).code).toBe('RESPONSE_TOO_LARGE');
  });

  it('refuses an event that is too large while it is being read, but no number of small ones', async () => {
    const events = 200;
    const { url } = await peer(({ event, response }) => {
      for (let index = 0; index < events; index += 1) {
        event({ statusUpdate: { taskId: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_WORKING' } } });
      }
      response.write('data: ');
      const timer = setInterval(() => response.write('x'.repeat(1024)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const agent = await connect(url, { binding, maxEventBytes: 16 * 1024 });
    let seen = 0;
    const reading = async () => {
      for await (const _ of agent.subscribeToTask({ id: 't-1' })) seen += 1;
    };
    expect((await failureOf(reading())).code).toBe('RESPONSE_TOO_LARGE');
    expect(seen).toBe(events);
  });

  it('reads any number of small events, whatever they come to together', async () => {
    const events = 100;
    const { url } = await peer(async ({ event, end }) => {
      for (let index = 0; index < events; index += 1) {
        event({ task: taskIn('WORKING') });
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      end();
    });
    const agent = await connect(url, { binding, maxEventBytes: 1024 });
    expect(await collect(agent.subscribeToTask({ id: 't-1' }))).toHaveLength(events);
  });

  it('leaves nothing behind on the signal of a caller who stays', async () => {
    const { url } = await peer(({ call, result, event, end }) => {
      if (call.operation === 'GetTask') return result(taskIn('WORKING'));
      event({ task: taskIn('COMPLETED') });
      return end();
    });
    const { signal } = new AbortController();
    const agent = await connect(url, { binding });
    await agent.getTask({ id: 't-1' }, { signal });
    await collect(agent.subscribeToTask({ id: 't-1' }, { signal }));
    await collect(agent.follow('t-1', { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('gives up at its deadline, whether or not an answer has begun', async () => {
    const { url } = await serve((request, response) => {
      if (request.headers['x-begin'])
        response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    });
    const agent = await connect(bothBindings(url), { binding, timeoutMs: 40 });
    expect((await failureOf(agent.getTask({ id: 't-1' }))).code).toBe('TIMEOUT');
    expect((await failureOf(agent.getTask({ id: 't-1' }, { headers: { 'x-begin': '1' } }))).code).toBe(
      'TIMEOUT',
    );
    expect((await failureOf(collect(agent.subscribeToTask({ id: 't-1' })))).code).toBe('TIMEOUT');
  });

  it('does not end a stream that has begun at its deadline', async () => {
    let finish: (() => void) | undefined;
    const { url } = await peer(({ event, end }) => {
      event({ task: taskIn('WORKING') });
      finish = () => {
        event({ task: taskIn('COMPLETED') });
        end();
      };
    });
    const deadlines: (() => void)[] = [];
    const clock = { sleep: () => new Promise<void>((resolve) => void deadlines.push(resolve)) };
    const agent = await connect(url, { binding, timeoutMs: 60, clock });
    let seen = 0;
    for await (const _ of agent.subscribeToTask({ id: 't-1' })) {
      seen += 1;
      for (const pass of deadlines) pass();
      finish?.();
      finish = undefined;
    }
    expect([seen, deadlines.length]).toEqual([2, 2]);
  });

  it('ends with ABORTED when the caller aborts, and closes the connection', async () => {
    const leaving = new AbortController();
    let closed: () => void;
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { url } = await serve((_, response) => {
      response.on('close', () => closed());
      leaving.abort('bye');
    });
    const agent = await connect(bothBindings(url), { binding });
    const error = await failureOf(agent.getTask({ id: 't-1' }, { signal: leaving.signal }));
    expect(error).toMatchObject({ code: 'ABORTED', cause: 'bye' });
    await wasClosed;
    expect((await failureOf(agent.getTask({ id: 't-1' }, { signal: leaving.signal }))).code).toBe('ABORTED');
  });

  it('cancels the request when the loop over its stream is left', async () => {
    let closed: () => void;
    const wasClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { url } = await peer(({ event, response }) => {
      response.on('close', () => closed());
      event({ task: taskIn('WORKING') });
    });
    for await (const _ of (await connect(url, { binding })).subscribeToTask({ id: 't-1' })) break;
    await wasClosed;
  });
});

describe('HTTP+JSON', () => {
  it.each([404, 405])('subscribes with GET when POST is answered with %i [R-REST-03]', async (status) => {
    const methods: string[] = [];
    const { url } = await serve((request, response) => {
      methods.push(request.method!);
      if (request.method === 'POST') return response.writeHead(status).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`data: ${JSON.stringify({ task: taskIn('WORKING') })}\n\n`);
    });
    const agent = await connect(bothBindings(url), { binding: 'HTTP+JSON' });
    expect(await collect(agent.subscribeToTask({ id: 't-1' }))).toEqual([{ task: taskIn('WORKING') }]);
    expect(methods).toEqual(['POST', 'GET']);
  });

  it('tries the other spelling once only [R-REST-03]', async () => {
    const methods: string[] = [];
    const { url } = await serve((request, response) => {
      methods.push(request.method!);
      response.writeHead(404).end();
    });
    const agent = await connect(bothBindings(url), { binding: 'HTTP+JSON' });
    await failureOf(collect(agent.subscribeToTask({ id: 't-1' })));
    expect(methods).toEqual(['POST', 'GET']);
  });

  it.each([
    [201, JSON.stringify(taskIn('WORKING'))],
    [200, JSON.stringify(taskIn('WORKING'))],
  ])('accepts any status that means success: %i [R-REST-10]', async (status, body) => {
    const { url } = await serve((_, response) => response.writeHead(status).end(body));
    const agent = await connect(bothBindings(url), { binding: 'HTTP+JSON' });
    expect((await agent.getTask({ id: 't-1' })).id).toBe('t-1');
  });

  it('accepts no content for an empty result [R-REST-09]', async () => {
    const { url } = await serve((_, response) => response.writeHead(204).end());
    const agent = await connect(bothBindings(url), { binding: 'HTTP+JSON' });
    expect(await agent.deleteTaskPushNotificationConfig({ taskId: 't-1', id: 'p-1' })).toEqual({});
  });
});

describe('what the card does not offer', () => {
  const bare = (url: string) => bothBindings(url, { capabilities: {} });

  it.each([
    ['SendStreamingMessage', 'UNSUPPORTED_OPERATION'],
    ['SubscribeToTask', 'UNSUPPORTED_OPERATION'],
    ['CreateTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GetTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['ListTaskPushNotificationConfigs', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['DeleteTaskPushNotificationConfig', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GetExtendedAgentCard', 'UNSUPPORTED_OPERATION'],
  ] as const)('is not asked for: %s [R-OP-07]', async (name, reason) => {
    const { url, calls } = await peer(({ result }) => result({}), { card: bare });
    const agent = await connect(url);
    expect((await failureOf(perform(agent, name, examples[name].params))).reason).toBe(reason);
    expect(calls).toEqual([]);
  });

  it('is asked for all the same when the card is not to be believed', async () => {
    const { url, calls } = await peer(({ result }) => result({ configs: [] }), { card: bare });
    const agent = await connect(url, { checkCapabilities: false });
    await agent.listTaskPushNotificationConfigs({ taskId: 't-1' });
    expect(calls).toHaveLength(1);
  });
});

describe('the extended card', () => {
  const extended = (url: string, version = '1.0.0') =>
    bothBindings(url, {
      name: 'Peer, for you',
      version,
      capabilities: { extendedAgentCard: true, streaming: true },
    });

  it('takes the place of the public one until there is a new version [R-CARD-23]', async () => {
    let version = '1.0.0';
    const { url } = await peer(({ result }) => result(extended('http://127.0.0.1:1')), {
      card: (at) => bothBindings(at, { version, capabilities: { extendedAgentCard: true } }),
    });
    const agent = await connect(url);
    expect((await agent.getExtendedAgentCard()).name).toBe('Peer, for you');
    expect([agent.card.name, agent.interface.url]).toEqual(['Peer, for you', 'http://127.0.0.1:1']);
    await agent.readCard();
    expect(agent.card.name).toBe('Peer, for you');
    version = '1.1.0';
    await agent.readCard();
    expect(agent.card.name).toBe('Peer');
  });
});
