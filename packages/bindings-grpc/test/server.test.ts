import { once } from 'node:events';
import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Caller } from '@batonjs/server';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { POSITION } from '../src/index.ts';
import { serve, serveTarget } from './agent.ts';
import { message, rawClient, readAll, refused, shown } from './raw-client.ts';

const errorInfo = (reason: string, domain = 'a2a-protocol.org', metadata?: object) =>
  expect.objectContaining({ reason, domain, ...(metadata && { metadata }) });

describe('the operations (R-GRPC-01, R-GRPC-05, R-GRPC-07, R-GRPC-08, R-GRPC-09)', () => {
  it('answer as over HTTP: all eleven', async () => {
    const { address } = await serve({
      card: {
        extended: { description: 'Converts more' },
        name: 'Converter',
        description: 'Converts money',
        capabilities: { extendedAgentCard: true, pushNotifications: true, streaming: true },
      },
      authenticate: () => ({ scope: 'ada' }),
      push: {},
    });
    const { call, stream } = rawClient(address);
    const { result } = await call('SendMessage', message('100 USD'));
    const task = result.task as Task;
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: '100 USD = 92 EUR' }]);

    const { events } = await readAll(stream('SendStreamingMessage', message('ask')));
    expect(events.map((event) => Object.keys(event)[0])).toEqual(['task', 'statusUpdate', 'statusUpdate']);
    const asked = events[0]!.task as Task;

    expect((await call('GetTask', { id: asked.id })).result).toMatchObject({ id: asked.id });
    // A page size of 0 is one that is not set.
    const listed = (await call('ListTasks', { pageSize: 0 })).result as { tasks: Task[]; totalSize: number };
    expect(listed.tasks.map(({ id }) => id).sort()).toEqual([task.id, asked.id].sort());
    expect(listed.totalSize).toBe(2);

    const config = { taskId: asked.id, id: 'c', url: 'https://example.com/hook' };
    expect((await call('CreateTaskPushNotificationConfig', config)).result).toMatchObject(config);
    const one = { taskId: asked.id, id: 'c' };
    expect((await call('GetTaskPushNotificationConfig', one)).result).toMatchObject(config);
    const configs = (await call('ListTaskPushNotificationConfigs', { taskId: asked.id })).result;
    expect(configs).toMatchObject({ configs: [config] });
    expect((await call('DeleteTaskPushNotificationConfig', one)).result).toEqual({});

    const following = stream('SubscribeToTask', { id: asked.id });
    await once(following, 'metadata');
    const canceled = (await call('CancelTask', { id: asked.id })).result as unknown as Task;
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    const last = (await readAll(following)).events.at(-1);
    expect(last).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });

    const card = (await call('GetExtendedAgentCard', {})).result;
    expect(card).toMatchObject({
      description: 'Converts more',
      supportedInterfaces: [{ url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    });
  });

  it('resume a stream after the position in the metadata of an event (R-GRPC-03)', async () => {
    const { address } = await serve();
    const { stream } = rawClient(address);
    const { events } = await readAll(stream('SendStreamingMessage', message('100 USD')));
    const { id } = events[0]!.task as Task;
    const second = Object.values(events[1]!)[0] as { metadata: Record<string, string> };
    const position = { 'last-event-id': second.metadata[POSITION]! };
    const { events: rest } = await readAll(stream('SubscribeToTask', { id }, position));
    expect(rest).toEqual(events.slice(2));
  });

  it('answer a stream that resumes at once, also while its task is silent', async () => {
    const { address } = await serve();
    const { call, stream } = rawClient(address);
    const { events } = await readAll(stream('SendStreamingMessage', message('ask')));
    const { id } = events[0]!.task as Task;
    const last = Object.values(events.at(-1)!)[0] as { metadata: Record<string, string> };
    const resumed = stream('SubscribeToTask', { id }, { 'last-event-id': last.metadata[POSITION]! });
    await once(resumed, 'metadata');
    await call('CancelTask', { id });
    const canceled = { statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } };
    expect((await readAll(resumed)).events).toMatchObject([canceled]);
  });
});

describe('errors (R-GRPC-04)', () => {
  it.each<[string, string, Parameters<ReturnType<typeof rawClient>['call']>, number, unknown]>([
    [
      'an unknown task (R-GRPC-70)',
      'TASK_NOT_FOUND',
      ['GetTask', { id: 'none' }],
      status.NOT_FOUND,
      { taskId: 'none' },
    ],
    [
      'another version (R-GRPC-71)',
      'VERSION_NOT_SUPPORTED',
      ['GetTask', { id: 't' }, { 'a2a-version': '2.0' }],
      status.FAILED_PRECONDITION,
      undefined,
    ],
    [
      'no version, which is 0.3 (R-GRPC-60)',
      'VERSION_NOT_SUPPORTED',
      ['GetTask', { id: 't' }, { 'a2a-version': '' }],
      status.FAILED_PRECONDITION,
      { requestedVersion: '0.3', supportedVersions: '1.0' },
    ],
    [
      'no extended card (R-GRPC-71)',
      'UNSUPPORTED_OPERATION',
      ['GetExtendedAgentCard', {}],
      status.FAILED_PRECONDITION,
      undefined,
    ],
    ['no message (R-GRPC-74)', 'INVALID_PARAMS', ['SendMessage', {}], status.INVALID_ARGUMENT, undefined],
    [
      'bytes that are no message (R-GRPC-79)',
      'INVALID_REQUEST',
      ['SendMessage', Buffer.from([10, 200])],
      status.INVALID_ARGUMENT,
      undefined,
    ],
  ])('say why in the trailers: %s', async (_, reason, call, code, metadata) => {
    const { address } = await serve();
    const error = await refused(rawClient(address).call(...call));
    expect(error.code).toBe(code);
    expect(error.details[0]).toEqual(errorInfo(reason, undefined, metadata as object | undefined));
  });

  it('name the fields that are wrong, as a BadRequest (R-GRPC-74)', async () => {
    const { address } = await serve();
    const wrong = { message: { role: 'ROLE_USER', parts: [{ url: 'nowhere' }] } };
    const error = await refused(rawClient(address).call('SendMessage', wrong));
    expect(error.details[1]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [
        { field: 'message.messageId', description: 'must not be empty' },
        { field: 'message.parts[0].url', description: 'must be an absolute URL' },
      ],
    });
  });

  it('leave out violations that would make the trailers too large', async () => {
    const { address } = await serve();
    const parts = Array.from({ length: 200 }, () => ({ url: 'nowhere' }));
    const error = await rawClient(address)
      .call('SendMessage', message('', { parts }))
      .catch((thrown) => thrown);
    const [packed] = error.metadata.get('grpc-status-details-bin') as Buffer[];
    expect(packed!.length).toBeLessThanOrEqual(5_000);
    const { fieldViolations } = shown(error).details[1] as unknown as { fieldViolations: unknown[] };
    expect(fieldViolations.length).toBeGreaterThan(10);
  });

  it('come before the first event of a stream in the same way', async () => {
    const { address } = await serve();
    const { events, error } = await readAll(rawClient(address).stream('SubscribeToTask', { id: 'none' }));
    expect(events).toEqual([]);
    expect(shown(error)).toMatchObject({ code: status.NOT_FOUND, details: [errorInfo('TASK_NOT_FOUND')] });
  });

  it('come after the first event too, and what was sent before stays valid (R-GRPC-93)', async () => {
    const error = new A2AError('UNAVAILABLE', 'The log was lost', { retryAfter: 3 });
    const batches = [
      { events: [{ id: 'l.1', event: { value: { message: message('hi').message }, text: '' } }] },
    ];
    const { address } = await serveTarget({
      answerCall: async () => ({
        extensions: [],
        events: {
          next: async () => {
            const batch = batches.shift();
            if (!batch) throw error;
            return batch as never;
          },
          close() {},
        },
      }),
    });
    const { events, error: ended } = await readAll(rawClient(address).stream('SubscribeToTask', { id: 't' }));
    expect(events).toMatchObject([{ message: { metadata: { [POSITION]: 'l.1' } } }]);
    expect(shown(ended)).toMatchObject({
      code: status.UNAVAILABLE,
      message: 'The log was lost',
      details: [
        errorInfo('UNAVAILABLE', 'batonjs.dev'),
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' },
      ],
    });
    expect(ended!.metadata.get('retry-after')).toEqual(['3']);
  });

  it('show nothing from inside', async () => {
    const { address } = await serve({
      authenticate: () => {
        throw new Error('the password of the database');
      },
    });
    const error = await refused(rawClient(address).call('GetTask', { id: 't' }));
    expect(error).toMatchObject({
      code: status.INTERNAL,
      message: 'Internal error',
      details: [errorInfo('INTERNAL_ERROR')],
    });
    expect(JSON.stringify(error)).not.toContain('password');
  });

  it('refuse a request that is larger than the limit (R-GRPC-92)', async () => {
    const { address } = await serve({ limits: { bodyBytes: 1_000 } });
    const { code, message: said } = await refused(
      rawClient(address).call('SendMessage', message('x'.repeat(2_000))),
    );
    expect(code).toBe(status.RESOURCE_EXHAUSTED);
    expect(said).toContain('larger than max');
  });

  it('refuse a result that is nested too deeply for gRPC, and say so (R-GRPC-91)', async () => {
    const { server, address } = await serve();
    let data: unknown = 'end';
    for (let level = 0; level < 31; level += 1) data = { in: data };
    const sent = message('', { parts: [{ text: '100 USD' }, { data }] });
    const reply = await server.fetch(
      new Request('http://localhost/message:send', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify(sent),
      }),
    );
    const { task } = (await reply.json()) as { task: Task };
    const error = await refused(rawClient(address).call('GetTask', { id: task.id }));
    expect(error.code).toBe(status.FAILED_PRECONDITION);
    expect(error.message).toBe(
      'history[0].parts[1].data is nested deeper than 30 levels, which gRPC cannot carry: use another binding',
    );
  });
});

describe('metadata (R-GRPC-60)', () => {
  const extension = 'https://example.com/ext';
  const card = {
    name: 'Converter',
    description: 'Converts money',
    capabilities: { extensions: [{ uri: extension }] },
  };

  it('names extensions, and the answer those that are active (R-GRPC-61)', async () => {
    const { address } = await serve({ card });
    const headers = { 'a2a-extensions': `https://example.com/other, ${extension}` };
    const { initial } = await rawClient(address).call('SendMessage', message('100 USD'), headers);
    expect(initial.get('a2a-extensions')).toEqual([extension]);
    const following = rawClient(address).stream('SendStreamingMessage', message('100 USD'), headers);
    const [received] = await once(following, 'metadata');
    expect(received.get('a2a-extensions')).toEqual([extension]);
    await readAll(following);
  });

  it('carries credentials to the same authenticate', async () => {
    const seen: unknown[] = [];
    const { address } = await serve({
      authenticate({ method, path, headers }): Caller | undefined {
        seen.push({ method, path });
        return headers.authorization === 'Bearer ada' ? { scope: 'ada' } : undefined;
      },
    });
    const { call } = rawClient(address);
    const { result } = await call('SendMessage', message('100 USD'), { authorization: 'Bearer ada' });
    expect(result).toHaveProperty('task');
    expect(seen).toEqual([{ method: 'POST', path: '/lf.a2a.v1.A2AService/SendMessage' }]);
    const error = await refused(call('SendMessage', Buffer.from([10, 200])));
    expect(error).toMatchObject({
      code: status.UNAUTHENTICATED,
      details: [errorInfo('UNAUTHENTICATED', 'batonjs.dev')],
    });
  });
});
