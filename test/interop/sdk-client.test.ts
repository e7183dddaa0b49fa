import {
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  type TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import {
  ContentTypeNotSupportedError,
  ExtensionSupportRequiredError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from '@a2a-js/sdk/errors';
import type { AgentServerOptions } from '@batonjs/server';
import { afterEach, describe, expect, it } from 'vitest';
import { type OurServer, serveOurs } from './our-server.ts';

// Where the official SDK 1.3.0 deviates from what its user might expect, the tests say so with "[SDK]".

let ours: OurServer;
afterEach(() => ours.close());

let ids = 0;
const request = (text: string, message: object = {}, configuration: object = {}): SendMessageRequest =>
  SendMessageRequest.fromJSON({
    message: { messageId: `sdk-${++ids}`, role: 'ROLE_USER', parts: [{ text }], ...message },
    configuration,
  });
const byId = (id: string) => ({ tenant: '', id });
const list = {
  tenant: '',
  contextId: '',
  status: 0 as TaskState,
  pageToken: '',
  statusTimestampAfter: undefined,
};

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON with matchers
type Json = any;
const taskOf = (result: Message | Task): Json => {
  expect(result).toHaveProperty('status');
  return Task.toJSON(result as Task);
};
const eventsOf = async (events: AsyncIterable<StreamResponse>): Promise<Json[]> => {
  const all: Json[] = [];
  for await (const event of events) all.push(StreamResponse.toJSON(event));
  return all;
};
const brief = (event: Json): string =>
  event.statusUpdate?.status.state.replace('TASK_STATE_', '') ??
  event.artifactUpdate?.artifact.parts[0].text ??
  (event.task ? `task ${event.task.status.state.replace('TASK_STATE_', '')}` : 'message');

describe.each(['JSONRPC', 'HTTP+JSON'])('the client of the official SDK on %s', (binding) => {
  /** A client of a server that has only this binding, so that no fallback can hide a failure. */
  const connect = async (options: Partial<AgentServerOptions> = {}): Promise<Client> => {
    ours = await serveOurs(options);
    const factory = new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        preferredTransports: [binding as 'JSONRPC'],
      }),
    );
    const client = await factory.createFromUrl(`${ours.url}/agent/.well-known/agent-card.json`, '');
    expect(client.transport.protocolName).toBe(binding);
    return client;
  };

  it('sends and waits for the end [R-SEND-03] [R-SEND-04]', async () => {
    const client = await connect();
    const task = taskOf(await client.sendMessage(request('10 USD in INR')));
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_AGENT', parts: [{ text: 'Done' }] } },
      artifacts: [
        {
          artifactId: 'quote',
          parts: [{ text: '10 USD' }, { text: ' is 833 INR' }, { data: { rate: 83.3 } }],
        },
      ],
      history: [{ role: 'ROLE_USER' }, { role: 'ROLE_AGENT', parts: [{ text: 'On it' }] }],
    });
  });

  it('is answered at once with returnImmediately, and polls [R-SEND-05] [R-GET-01]', async () => {
    const client = await connect();
    const task = taskOf(await client.sendMessage(request('hold', {}, { returnImmediately: true })));
    expect(task.status.state).toMatch(/SUBMITTED|WORKING/);
    ours.release();
    await expect
      .poll(async () => (await client.getTask(byId(task.id))).status?.state)
      .toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('streams every event [R-STR-01] [R-STR-02] [R-STR-03]', async () => {
    const client = await connect();
    const events = await eventsOf(client.sendMessageStream(request('10 USD in INR')));
    // The agent decides only when it runs that there is a task: what it said by then is in the first event.
    expect(events.map(brief)).toEqual([
      expect.stringMatching(/^task (SUBMITTED|WORKING)$/),
      ...(events.length > 4 ? ['WORKING'] : []),
      '10 USD',
      ' is 833 INR',
      'COMPLETED',
    ]);
    expect(events.at(-2).artifactUpdate).toMatchObject({ append: true, lastChunk: true });
    const taskId = events[0].task.id;
    for (const { statusUpdate, artifactUpdate } of events.slice(1))
      expect((statusUpdate ?? artifactUpdate).taskId).toBe(taskId);
  });

  it('gets a message from who only talks, sent and streamed [R-SEND-20] [R-STR-01]', async () => {
    const client = await connect();
    const answer = await client.sendMessage(request('talk', { contextId: 'c' }));
    expect(Message.toJSON(answer as Message)).toMatchObject({
      role: 'ROLE_AGENT',
      contextId: 'c',
      parts: [{ text: 'Nice to meet you' }],
    });
    expect((await eventsOf(client.sendMessageStream(request('talk')))).map(brief)).toEqual(['message']);
  });

  it('is asked, and answers [R-SEND-18] [R-CTX-04] [R-STR-07] [R-STR-10]', async () => {
    const client = await connect();
    const asked = taskOf(await client.sendMessage(request('ask')));
    expect(asked.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Which currency?' }] },
    });
    const done = taskOf(await client.sendMessage(request('INR', { taskId: asked.id })));
    expect(done).toMatchObject({ id: asked.id, contextId: asked.contextId });
    expect(done.status.state).toBe('TASK_STATE_COMPLETED');

    const stream = await eventsOf(client.sendMessageStream(request('ask')));
    expect(stream.map(brief).at(-1)).toMatch(/INPUT_REQUIRED$/);
    const again = request('INR', { taskId: stream[0].task.id, contextId: stream[0].task.contextId });
    const followed = (await eventsOf(client.sendMessageStream(again))).map(brief);
    expect(followed[0]).toMatch(/^task /);
    expect(followed.slice(-4)).toEqual(['WORKING', '10 USD', ' is 833 INR', 'COMPLETED']);
  });

  it('gets a task, with as much history as it likes [R-GET-02] [R-HLEN-02] [R-HLEN-03]', async () => {
    const client = await connect();
    const { id } = taskOf(await client.sendMessage(request('10 USD in INR')));
    const history = async (historyLength?: number) =>
      (await client.getTask({ ...byId(id), historyLength })).history.length;
    expect(await history()).toBe(2);
    expect(await history(1)).toBe(1);
    expect(await history(0)).toBe(0);
  });

  it('lists tasks, by page and by filter [R-LIST-02] [R-LIST-03] [R-LIST-05] [R-LIST-08]', async () => {
    const client = await connect();
    for (const text of ['one', 'two', 'ask'])
      await client.sendMessage(request(text, { contextId: text === 'two' ? 'd' : 'c' }));
    const json = async (more: object) =>
      ListTasksResponse.toJSON(await client.listTasks({ ...list, ...more })) as Json;
    const first = await json({ pageSize: 2 });
    expect(first).toMatchObject({ totalSize: 3, pageSize: 2, nextPageToken: expect.stringMatching(/./) });
    const rest = await client.listTasks({ ...list, pageSize: 2, pageToken: first.nextPageToken });
    expect([rest.tasks.length, rest.nextPageToken]).toEqual([1, '']);
    expect((await json({ contextId: 'c' })).totalSize).toBe(2);
    expect((await json({ contextId: 'c', status: TaskState.TASK_STATE_COMPLETED })).totalSize).toBe(1);
    const full = await client.listTasks({
      ...list,
      contextId: 'd',
      includeArtifacts: true,
      historyLength: 5,
    });
    expect([full.tasks[0]?.artifacts.length, full.tasks[0]?.history.length]).toEqual([1, 2]);
    expect((await client.listTasks({ ...list, contextId: 'd' })).tasks[0]?.artifacts).toEqual([]);
    const since = { statusTimestampAfter: '2999-01-01T00:00:00Z' };
    expect((await client.listTasks({ ...list, ...since })).tasks).toEqual([]);
  });

  it('cancels what runs, and what waits; once more is the same [R-CAN-01] [R-CAN-03] [R-CAN-05]', async () => {
    const client = await connect();
    const running = taskOf(await client.sendMessage(request('hold', {}, { returnImmediately: true })));
    const waiting = taskOf(await client.sendMessage(request('ask')));
    for (const { id } of [running, waiting]) {
      const cancel = { ...byId(id), metadata: { reason: 'changed my mind' } };
      expect((await client.cancelTask(cancel)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
      expect((await client.cancelTask(cancel)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    }
  });

  it('subscribes to a running task, and gets the rest [R-SUB-01] [R-SUB-04] [R-REST-03]', async () => {
    const client = await connect();
    const { id } = taskOf(await client.sendMessage(request('hold', {}, { returnImmediately: true })));
    await expect.poll(async () => (await client.getTask(byId(id))).artifacts.length).toBe(1);
    const events = client.resubscribeTask(byId(id));
    const first = await events.next();
    expect(StreamResponse.toJSON(first.value as StreamResponse)).toMatchObject({
      task: { id, artifacts: [{ parts: [{ text: '10 USD' }] }] },
    });
    ours.release();
    expect((await eventsOf(events)).map(brief)).toEqual([' is 833 INR', 'COMPLETED']);
  });

  it('leaves a stream, and the task goes on [R-STR-06]', async () => {
    const client = await connect();
    let id = '';
    for await (const event of client.sendMessageStream(request('hold'))) {
      id = (StreamResponse.toJSON(event) as Json).task.id;
      break;
    }
    ours.release();
    await expect
      .poll(async () => (await client.getTask(byId(id))).status?.state)
      .toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('sends parts of every kind, and gets them back [R-DM-06] [R-JSON-08]', async () => {
    const client = await connect();
    const parts = [
      { text: 'a', metadata: { n: 1 } },
      { raw: Buffer.from('bytes').toString('base64'), filename: 'a.bin' },
      { url: 'https://example.com/a', mediaType: 'text/plain' },
      { data: { deep: [1, null, { a: 'b' }] } },
      { data: [1, 2] },
      { data: 'text' },
      { data: false },
      { data: 0 },
    ];
    const { history } = taskOf(await client.sendMessage(request('', { parts, metadata: { m: true } })));
    expect(history[0]).toMatchObject({ parts, metadata: { m: true } });
  });

  it('reads a failure [R-STR-02]', async () => {
    const client = await connect();
    const task = taskOf(await client.sendMessage(request('fail')));
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{ text: 'It did not work' }, { data: { code: 'NO_LUCK' } }] },
    });
  });

  it('sends the tenant of the interface [R-OP-09] [R-REST-12]', async () => {
    ours = await serveOurs();
    const interfaces = [
      { url: `${ours.url}/agent`, protocolBinding: binding, protocolVersion: '1.0', tenant: 'acme' },
    ];
    const { AgentCard } = await import('@a2a-js/sdk');
    const card = AgentCard.fromJSON({ ...ours.server.card, supportedInterfaces: interfaces });
    const tenanted = await new ClientFactory().createFromAgentCard(card);
    const { id } = taskOf(await tenanted.sendMessage(request('10 USD in INR')));
    expect((await tenanted.getTask(byId(id))).id).toBe(id);
    expect((await tenanted.listTasks(list)).totalSize).toBe(1);
    const card2 = AgentCard.fromJSON({
      ...ours.server.card,
      supportedInterfaces: interfaces.map((each) => ({ ...each, tenant: 'other' })),
    });
    const other = await new ClientFactory().createFromAgentCard(card2);
    await expect(other.getTask(byId(id))).rejects.toBeInstanceOf(TaskNotFoundError);
  });

  describe('understands', () => {
    const failure = (promise: Promise<unknown>): Promise<Json> =>
      promise.then(
        () => expect.fail('It succeeded'),
        (error: unknown) => error,
      );
    /** [SDK] Its client adds the version, its transports do not. */
    const spoken = { serviceParameters: { 'A2A-Version': '1.0' } };
    const push: TaskPushNotificationConfig = {
      tenant: '',
      id: 'p',
      taskId: 't',
      url: 'https://example.com/hook',
      token: '',
      authentication: undefined,
    };

    it('TASK_NOT_FOUND of every operation', async () => {
      const client = await connect();
      const errors = await Promise.all([
        failure(client.getTask(byId('nobody'))),
        failure(client.cancelTask({ ...byId('nobody'), metadata: undefined })),
        failure(client.resubscribeTask(byId('nobody')).next()),
        failure(client.sendMessage(request('x', { taskId: 'nobody' }))),
        failure(client.sendMessageStream(request('x', { taskId: 'nobody' })).next()),
      ]);
      for (const error of errors) {
        expect(error).toBeInstanceOf(TaskNotFoundError);
        // [SDK] On JSON-RPC, it drops the metadata of an error.
        expect(error.metadata).toEqual(binding === 'JSONRPC' ? undefined : { taskId: 'nobody' });
      }
    });

    it('TASK_NOT_CANCELABLE', async () => {
      const client = await connect();
      const { id } = taskOf(await client.sendMessage(request('10 USD in INR')));
      const error = await failure(client.cancelTask({ ...byId(id), metadata: undefined }));
      expect(error).toBeInstanceOf(TaskNotCancelableError);
    });

    it('UNSUPPORTED_OPERATION', async () => {
      const client = await connect();
      const { id } = taskOf(await client.sendMessage(request('10 USD in INR')));
      const errors = await Promise.all([
        failure(client.sendMessage(request('more', { taskId: id }))),
        failure(client.sendMessageStream(request('more', { taskId: id })).next()),
        failure(client.resubscribeTask(byId(id)).next()),
      ]);
      for (const error of errors) expect(error).toBeInstanceOf(UnsupportedOperationError);
    });

    it('CONTENT_TYPE_NOT_SUPPORTED', async () => {
      const client = await connect();
      const parts = [{ text: 'a', mediaType: 'video/mp4' }];
      expect(await failure(client.sendMessage(request('', { parts })))).toBeInstanceOf(
        ContentTypeNotSupportedError,
      );
    });

    it('PUSH_NOTIFICATION_NOT_SUPPORTED', async () => {
      const capabilities = { pushNotifications: false };
      // [SDK] Its client reads the card and does not even ask (R-OP-07), and throws before there is a promise.
      const client = await connect({ card: { name: 'V', description: 'x', capabilities } });
      await expect(async () => client.createTaskPushNotificationConfig(push)).rejects.toBeInstanceOf(
        PushNotificationNotSupportedError,
      );
      const { transport } = client;
      const id = { tenant: '', taskId: 't', id: 'p' };
      const errors = await Promise.all([
        failure(transport.createTaskPushNotificationConfig(push, spoken)),
        failure(transport.getTaskPushNotificationConfig(id, spoken)),
        failure(
          transport.listTaskPushNotificationConfig(
            { tenant: '', taskId: 't', pageSize: 1, pageToken: '' },
            spoken,
          ),
        ),
        failure(transport.deleteTaskPushNotificationConfig(id, spoken)),
      ]);
      for (const error of errors) expect(error).toBeInstanceOf(PushNotificationNotSupportedError);
    });

    it('EXTENSION_SUPPORT_REQUIRED', async () => {
      const extensions = [{ uri: 'https://example.com/e/v1', required: true }];
      const client = await connect({ card: { name: 'V', description: 'x', capabilities: { extensions } } });
      expect(await failure(client.sendMessage(request('x')))).toBeInstanceOf(ExtensionSupportRequiredError);
      const serviceParameters = { 'A2A-Extensions': 'https://example.com/e/v1' };
      expect(taskOf(await client.sendMessage(request('x'), { serviceParameters })).id).toBeTruthy();
    });

    it('VERSION_NOT_SUPPORTED [R-VER-03]', async () => {
      const client = await connect();
      // A transport by itself names no version, which is 0.3.
      const error = await failure(client.transport.getTask(byId('x')));
      expect(error).toBeInstanceOf(VersionNotSupportedError);
    });

    it('INVALID_PARAMS [R-SEND-12] [R-SEND-13] [R-LIST-06]', async () => {
      const client = await connect();
      const errors = await Promise.all([
        failure(client.listTasks({ ...list, pageSize: 101 })),
        failure(client.sendMessage(request('x', { parts: [] }))),
        failure(client.sendMessage(request('x', { role: 'ROLE_AGENT' }))),
      ]);
      for (const error of errors) {
        expect(error).toBeInstanceOf(RequestMalformedError);
        expect(error.reason).toBe('INVALID_PARAMS');
      }
    });

    it('that it is not let in', async () => {
      const client = await connect({ authenticate: () => undefined });
      const error = await failure(client.getTask(byId('x')));
      expect(error).toBeInstanceOf(Error);
      expect(error.message).toMatch(/Authentication required|401/);
    });

    it('that there is no other card [R-CARD-21]', async () => {
      const client = await connect();
      const error = await failure(client.transport.getExtendedAgentCard({ tenant: '' }, spoken));
      expect(error).toBeInstanceOf(UnsupportedOperationError);
      // Without the capability, it returns the card it has.
      expect((await client.getAgentCard()).name).toBe('Versatile');
    });
  });
});

describe('the client of the official SDK', () => {
  it('finds the card at the origin, and takes the first interface [R-CARD-01] [R-CARD-07]', async () => {
    ours = await serveOurs();
    const client = await new ClientFactory().createFromUrl(ours.url);
    expect(client.transport.protocolName).toBe('JSONRPC');
    expect(taskOf(await client.sendMessage(request('10 USD in INR'))).status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
  });
});
