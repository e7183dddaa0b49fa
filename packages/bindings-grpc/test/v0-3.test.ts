import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AgentCard, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { LegacyGrpcTransport } from '@a2a-js/sdk/compat/v0_3/client/grpc';
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder } from '@a2a-js/sdk/server/grpc';
import { type Loss, v03, v03Client, v03Grpc } from '@batonjs/bindings-v0-3';
import { connect, textOf } from '@batonjs/client';
import type { AgentServerOptions } from '@batonjs/server';
import { Metadata, Server, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grpcClient, listenGrpc, POSITION } from '../src/index.ts';
import { serviceOf } from '../src/wire/a2a-service.ts';
import { decodeMessage } from '../src/wire/decode-message.ts';
import { encodeMessage } from '../src/wire/encode-message.ts';
import { messageTypes } from '../src/wire/message-types.ts';
import { serve } from './agent.ts';
import { generatedFields, ours } from './generated-fields.ts';
import { Convert, listenOfficial } from './official-agent.ts';
import { rawClient, refused } from './raw-client.ts';
import { anyValueOf } from './values.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON with matchers
type Json = any;

const service = serviceOf(v03Grpc());
const types = messageTypes(v03Grpc().messages, v03Grpc().enums);
const same = (bytes: Buffer) => bytes;
function rawMetadata(version?: string): Metadata {
  const metadata = new Metadata();
  if (version) metadata.set('a2a-version', version);
  return metadata;
}

describe('the messages of 0.3', () => {
  const generated = readFileSync(
    fileURLToPath(import.meta.resolve('@a2a-js/sdk/compat/v0_3/server/grpc')),
    'utf8',
  );
  /** Later versions of 0.3 have them; the SDK generated its code from 0.3.0. */
  const later = new Set(['4 34 metadata Struct', '4 34 name string']);

  it.each(Object.values(types))(
    'agree on $name with the code that the official SDK generated',
    ({ name, fields }) => {
      const mine = fields.map(ours).filter((field) => !(/^(Part|FilePart)$/.test(name) && later.has(field)));
      expect(mine.sort()).toEqual(generatedFields(generated, name).sort());
    },
  );

  it('agree on the methods, their kinds and their paths', () => {
    const theirs = Object.values(LegacyA2AService as Json).map(
      ({ path, responseStream }: Json) => `${path} ${responseStream}`,
    );
    expect(service.methods.map(({ path, isStream }) => `${path} ${isStream}`).sort()).toEqual(theirs.sort());
  });

  it.each(Object.values(types))('$name is decoded to what was encoded', (type) => {
    fc.assert(
      fc.property(anyValueOf(type), (given) => {
        expect(decodeMessage(type, encodeMessage(type, given))).toEqual(given);
      }),
      { numRuns: 30 },
    );
  });
});

/** An agent that speaks both versions at one port. */
async function serveBoth(options: Partial<AgentServerOptions> = {}) {
  const { server } = await serve(options);
  const losses: Loss[] = [];
  const listener = await listenGrpc(server, {
    port: 0,
    versions: [v03Grpc({ onLoss: (loss) => void losses.push(loss) })],
  });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  return { server, losses, address: listener.address! };
}

const request = (text: string, message: object = {}, more: object = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
    configuration: { returnImmediately: false },
    ...more,
  });
const byId = (id: string) => ({ tenant: '', id });

async function eventsOf(events: AsyncIterable<StreamResponse>): Promise<Json[]> {
  const all: Json[] = [];
  for await (const event of events) all.push(StreamResponse.toJSON(event));
  return all;
}

describe('the client of the official SDK for 0.3 over gRPC', () => {
  const push: Partial<AgentServerOptions> = {
    push: {},
    card: { name: 'Converter', description: 'Converts money', capabilities: { pushNotifications: true } },
  };

  it('sends, gets and cancels', async () => {
    const { address } = await serveBoth();
    const client = new LegacyGrpcTransport({ endpoint: address });
    const task = Task.toJSON((await client.sendMessage(request('100 USD'))) as Task) as Json;
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'result', parts: [{ text: '100 USD = 92 EUR' }] }],
    });
    expect(Task.toJSON(await client.getTask(byId(task.id)))).toMatchObject({ id: task.id });
    const asked = (await client.sendMessage(request('ask'))) as Task;
    expect(Task.toJSON(asked)).toMatchObject({
      status: { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which currency?' }] } },
    });
    const canceled = await client.cancelTask({ ...byId(asked.id), metadata: {} });
    expect(Task.toJSON(canceled)).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('calls what the card lists', async () => {
    const { server } = await serveBoth();
    const reply = await server.fetch(new Request('http://localhost/.well-known/agent-card.json'));
    const card = (await reply.json()) as Json;
    const supportedInterfaces = card.supportedInterfaces.filter(
      (each: Json) => each.protocolVersion === '0.3',
    );
    const factory = new ClientFactory({
      transports: [new GrpcTransportFactory({ legacyCompat: { enabled: true } })],
    });
    const client = await factory.createFromAgentCard(AgentCard.fromJSON({ ...card, supportedInterfaces }));
    const task = Task.toJSON((await client.sendMessage(request('100 USD'))) as Task);
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  it('does not wait if it does not ask to', async () => {
    const { address, server } = await serveBoth();
    const client = new LegacyGrpcTransport({ endpoint: address });
    const configuration = { returnImmediately: true };
    const task = Task.toJSON(
      (await client.sendMessage(request('wait', {}, { configuration }))) as Task,
    ) as Json;
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
    await server.close({ graceMs: 0 });
  });

  it('streams, and follows a task that has ended', async () => {
    const { address } = await serveBoth();
    const client = new LegacyGrpcTransport({ endpoint: address });
    const events = await eventsOf(client.sendMessageStream(request('100 USD')));
    expect(events.map((event) => Object.keys(event)[0])).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    for (const event of events)
      expect((Object.values(event)[0] as Json).metadata[POSITION]).toMatch(/\.\d+~/);
    const again = await eventsOf(client.resubscribeTask(byId(events[0].task.id)));
    expect(again).toMatchObject([{ task: { status: { state: 'TASK_STATE_COMPLETED' } } }]);
  });

  it('manages webhooks', async () => {
    const { address } = await serveBoth(push);
    const client = new LegacyGrpcTransport({ endpoint: address });
    const { id: taskId } = (await client.sendMessage(request('ask'))) as Task;
    const config = { tenant: '', id: 'c', taskId, url: 'https://example.com/hook', token: 't' };
    const created = await client.createTaskPushNotificationConfig({ ...config, authentication: undefined });
    expect(created).toMatchObject({ id: 'c', taskId, url: config.url });
    const one = { tenant: '', taskId, id: 'c' };
    expect(await client.getTaskPushNotificationConfig(one)).toMatchObject({ id: 'c', url: config.url });
    const listed = await client.listTaskPushNotificationConfig({
      tenant: '',
      taskId,
      pageSize: 0,
      pageToken: '',
    });
    expect(listed.configs).toMatchObject([{ id: 'c', taskId }]);
    await client.deleteTaskPushNotificationConfig(one);
    await expect(client.getTaskPushNotificationConfig(one)).rejects.toThrow();
  });

  it('knows our errors, and gets the extended card', async () => {
    const { address } = await serveBoth({
      card: {
        extended: { description: 'Converts more' },
        name: 'Converter',
        description: 'Converts money',
        capabilities: { extendedAgentCard: true },
        securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
        securityRequirements: [{ schemes: { key: { list: ['read'] } } }],
      },
      authenticate: () => ({ scope: 'ada' }),
    });
    const client = new LegacyGrpcTransport({ endpoint: address });
    const task = (await client.sendMessage(request('100 USD'))) as Task;
    await expect(client.getTask(byId('missing'))).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask({ ...byId(task.id), metadata: {} })).rejects.toBeInstanceOf(
      TaskNotCancelableError,
    );
    const card = AgentCard.toJSON(await client.getExtendedAgentCard({ tenant: '' }));
    expect(card).toMatchObject({
      description: 'Converts more',
      supportedInterfaces: [{ url: address, protocolBinding: 'GRPC', protocolVersion: '0.3.0' }],
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ schemes: { key: { list: ['read'] } } }],
    });
  });
});

/** Our client of an agent on the server of the official SDK for 0.3. */
async function officialServer() {
  const server = new Server();
  const port = await listenOfficial(server);
  const url = `127.0.0.1:${port}`;
  const members = {
    name: 'Peer',
    description: 'Converts money',
    version: '1',
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const supportedInterfaces = [{ url, protocolBinding: 'GRPC', protocolVersion: '0.3' }];
  const card = AgentCard.fromJSON({ ...members, supportedInterfaces });
  const webhooks = new InMemoryPushNotificationStore();
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new Convert(),
    undefined,
    webhooks,
  );
  server.addService(
    LegacyA2AService as Json,
    legacyGrpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }),
  );
  const losses: Loss[] = [];
  const onLoss = (loss: Loss) => void losses.push(loss);
  const older = { ...members, protocolVersion: '0.3.0', url, preferredTransport: 'GRPC' };
  const agent = await connect(older as Json, {
    bindings: [grpcClient({ version: v03Grpc({ onLoss }) })],
    compatibility: [v03Client({ onLoss })],
    retry: { firstMs: 1 },
  });
  return { agent, losses };
}

const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error) => error.reason ?? error.code,
  );

describe('the server of the official SDK for 0.3 over gRPC', () => {
  it('is sent to, asked for tasks, and its errors are known', async () => {
    const { agent, losses } = await officialServer();
    expect(agent.interface).toMatchObject({ protocolBinding: 'GRPC', protocolVersion: '0.3' });
    const { task } = await agent.send('10 USD');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task?.artifacts?.[0]?.parts).toMatchObject([
      { text: '833 INR' },
      { data: { rate: 83.3, steps: [1, null] } },
      { raw: 'aGk=' },
    ]);
    expect((await agent.getTask({ id: task!.id, historyLength: 0 })).id).toBe(task!.id);
    expect(losses).toContainEqual({ code: 'history-none', path: 'historyLength' });
    expect(await reasonOf(agent.getTask({ id: 'missing' }))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(agent.task(task!).cancel())).toBe('TASK_NOT_CANCELABLE');
    expect(await reasonOf(agent.listTasks())).toBe('UNSUPPORTED_OPERATION');
  });

  it('streams, asks and is answered, and is followed', async () => {
    const { agent } = await officialServer();
    const { task } = await agent.stream('ask').result();
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await agent.stream('INR', { task: task! }).result();
    expect(answered.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(answered.task?.artifacts?.[0])).toBe('833 INR');
    const slow = await agent.send('slow', { returnImmediately: true });
    const following = agent.follow(slow.task!).result();
    expect((await agent.task(slow.task!).cancel()).status.state).toBe('TASK_STATE_CANCELED');
    expect((await following).task?.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('keeps webhooks', async () => {
    const { agent } = await officialServer();
    const { task } = await agent.send('ask');
    const taskId = task!.id;
    const config = { taskId, id: 'c', url: 'https://example.com/hook' };
    expect(await agent.createTaskPushNotificationConfig(config)).toMatchObject(config);
    expect(await agent.getTaskPushNotificationConfig({ taskId, id: 'c' })).toMatchObject(config);
    const { configs } = await agent.listTaskPushNotificationConfigs({ taskId });
    expect(configs).toMatchObject([config]);
    expect(await agent.deleteTaskPushNotificationConfig({ taskId, id: 'c' })).toEqual({});
  });
});

describe('our client and our server in 0.3 over gRPC', () => {
  it('resume a stream after the position in an event', async () => {
    const { server, address } = await serveBoth();
    const supportedInterfaces = [{ url: address, protocolBinding: 'GRPC', protocolVersion: '0.3' }];
    const agent = await connect(
      { ...server.card, supportedInterfaces },
      { bindings: [grpcClient({ version: v03Grpc() })] },
    );
    const stream = agent.stream('100 USD');
    const ids: (string | undefined)[] = [];
    const kinds: string[] = [];
    for await (const event of stream) {
      ids.push(stream.lastEventId);
      kinds.push(Object.keys(event)[0]!);
    }
    const { id } = (await stream.result()).task!;
    const rest: string[] = [];
    for await (const event of agent.follow(id, { lastEventId: ids[1]! })) rest.push(Object.keys(event)[0]!);
    expect(rest).toEqual(kinds.slice(2));
  });

  it('say which event is the last one of a stream, also at a question', async () => {
    const { address } = await serveBoth();
    const { request: send, response } = service.methods.find(({ name }) => name === 'SendStreamingMessage')!;
    const content = [{ text: 'ask' }];
    const given = { request: { messageId: 'm', role: 'ROLE_USER', content } };
    const bytes = Buffer.from(encodeMessage(send, given));
    const path = '/a2a.v1.A2AService/SendStreamingMessage';
    const finals: unknown[] = [];
    const { client } = rawClient(address);
    const stream = client.makeServerStreamRequest(path, same, same, bytes, rawMetadata());
    for await (const event of stream) {
      const { statusUpdate } = decodeMessage(response, event as Buffer) as Json;
      finals.push(statusUpdate?.final);
    }
    expect(finals).toEqual([undefined, false, true]);
  });

  it('list both versions in the card, the newer first, and refuse a version at the service of the other', async () => {
    const { server, address } = await serveBoth({ compatibility: [v03()] });
    const card = await server.fetch(new Request('http://localhost/.well-known/agent-card.json'));
    const { supportedInterfaces } = (await card.json()) as Json;
    expect(
      supportedInterfaces.map(
        ({ protocolBinding, protocolVersion, url }: Json) => `${protocolBinding} ${protocolVersion} ${url}`,
      ),
    ).toEqual([
      'JSONRPC 1.0 http://localhost',
      'HTTP+JSON 1.0 http://localhost',
      expect.stringMatching(/^GRPC 1.0 127.0.0.1:/),
      `GRPC 1.0 ${address}`,
      'JSONRPC 0.3 http://localhost',
      'HTTP+JSON 0.3 http://localhost',
      `GRPC 0.3 ${address}`,
    ]);
    const client = rawClient(address).client;
    const path = '/a2a.v1.A2AService/GetTask';
    const asked = new Promise((resolve, reject) => {
      const metadata = rawMetadata('1.0');
      client.makeUnaryRequest(path, same, same, Buffer.alloc(0), metadata, (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(await refused(asked)).toMatchObject({
      code: status.FAILED_PRECONDITION,
      details: [{ reason: 'VERSION_NOT_SUPPORTED', metadata: { supportedVersions: '0.3' } }],
    });
  });

  it.each([
    ['GetTask', 'GetTaskRequest', {}, 'name'],
    ['GetTask', 'GetTaskRequest', { name: 'tasks/a/b' }, 'name'],
    ['CancelTask', 'CancelTaskRequest', { name: 'x' }, 'name'],
    ['SendMessage', 'SendMessageRequest', {}, 'message'],
  ])('refuse %s with a wrong name: %s %j', async (name, type, given, field) => {
    const { address } = await serveBoth();
    const bytes = Buffer.from(encodeMessage(types[type]!, given));
    const { client } = rawClient(address);
    const asked = new Promise((resolve, reject) => {
      const path = `/a2a.v1.A2AService/${name}`;
      client.makeUnaryRequest(path, same, same, bytes, rawMetadata(), (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(await refused(asked)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: [{ reason: 'INVALID_PARAMS' }, { fieldViolations: [{ field }] }],
    });
  });
});
