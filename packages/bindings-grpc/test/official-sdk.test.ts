import { AgentCard, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { connect, textOf } from '@batonjs/client';
import { Server } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { grpcClient, POSITION } from '../src/index.ts';
import { serve } from './agent.ts';
import { Convert, listenOfficial } from './official-agent.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON with matchers
type Json = any;

const request = (text: string, message: object = {}) =>
  SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
  });
const byId = (id: string) => ({ tenant: '', id });

async function eventsOf(events: AsyncIterable<StreamResponse>): Promise<Json[]> {
  const all: Json[] = [];
  for await (const event of events) all.push(StreamResponse.toJSON(event));
  return all;
}

/** The client of the official SDK, which reads our card over HTTP and calls what it lists of gRPC. */
async function officialClient(options: Parameters<typeof serve>[0] = {}) {
  const { server, address } = await serve(options);
  const reply = await server.fetch(new Request('http://localhost/.well-known/agent-card.json'));
  const factory = new ClientFactory({
    transports: [new GrpcTransportFactory()],
    preferredTransports: ['GRPC'],
  });
  const client = await factory.createFromAgentCard(AgentCard.fromJSON(await reply.json()));
  expect(client.transport.protocolName).toBe('GRPC');
  return { client, address };
}

describe('the client of the official SDK', () => {
  it('sends, gets, lists and cancels', async () => {
    const { client } = await officialClient();
    const task = Task.toJSON((await client.sendMessage(request('100 USD'))) as Task) as Json;
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'result', parts: [{ text: '100 USD = 92 EUR' }] }],
    });
    expect(Task.toJSON(await client.getTask(byId(task.id)))).toMatchObject({ id: task.id });
    const asked = (await client.sendMessage(request('ask'))) as Task;
    const canceled = await client.cancelTask({ ...byId(asked.id), metadata: {} });
    expect(Task.toJSON(canceled)).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('streams, asks and is answered, and sees the position of every event', async () => {
    const { client } = await officialClient();
    const events = await eventsOf(client.sendMessageStream(request('ask')));
    expect(events.map((event) => Object.keys(event)[0])).toEqual(['task', 'statusUpdate', 'statusUpdate']);
    expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    for (const event of events)
      expect((Object.values(event)[0] as Json).metadata[POSITION]).toMatch(/\.\d+~/);
    const { id: taskId, contextId } = events[0].task;
    const rest = await eventsOf(client.sendMessageStream(request('100 USD', { taskId, contextId })));
    expect(rest.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('follows a task', async () => {
    const { client } = await officialClient();
    const asked = (await client.sendMessage(request('ask'))) as Task;
    const followed = client.resubscribeTask(byId(asked.id));
    expect(StreamResponse.toJSON((await followed.next()).value as StreamResponse)).toMatchObject({
      task: { id: asked.id },
    });
    await client.cancelTask({ ...byId(asked.id), metadata: {} });
    expect((await eventsOf(followed)).at(-1).statusUpdate.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('knows our errors', async () => {
    const { client } = await officialClient();
    const task = (await client.sendMessage(request('100 USD'))) as Task;
    await expect(client.getTask(byId('missing'))).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask({ ...byId(task.id), metadata: {} })).rejects.toBeInstanceOf(
      TaskNotCancelableError,
    );
    await expect(eventsOf(client.resubscribeTask(byId('missing')))).rejects.toBeInstanceOf(TaskNotFoundError);
  });
});

/** Our client of an agent on the server of the official SDK. */
async function officialServer() {
  const server = new Server();
  const members = {
    name: 'Peer',
    description: 'Converts money',
    version: '1',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const port = await listenOfficial(server);
  const supportedInterfaces = [{ url: `127.0.0.1:${port}`, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
  const card = AgentCard.fromJSON({ ...members, supportedInterfaces });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Convert());
  server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  return connect({ ...members, supportedInterfaces }, { bindings: [grpcClient()], retry: { firstMs: 1 } });
}

const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error) => error.reason ?? error.code,
  );

describe('the server of the official SDK', () => {
  it('is sent to, asked for tasks, and its errors are known', async () => {
    const agent = await officialServer();
    const { task } = await agent.send('10 USD');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task?.artifacts?.[0]?.parts).toEqual([
      { text: '833 INR' },
      { data: { rate: 83.3, steps: [1, null] } },
      { raw: 'aGk=' },
    ]);
    expect((await agent.getTask({ id: task!.id })).id).toBe(task!.id);
    expect((await agent.listTasks()).tasks.map(({ id }) => id)).toEqual([task!.id]);
    expect(await reasonOf(agent.getTask({ id: 'missing' }))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(agent.task(task!).cancel())).toBe('TASK_NOT_CANCELABLE');
    expect(await reasonOf(agent.send('more', { task: task! }))).toBe('UNSUPPORTED_OPERATION');
  });

  it('streams, asks and is answered', async () => {
    const agent = await officialServer();
    const { task } = await agent.stream('ask').result();
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await agent.stream('INR', { task: task! }).result();
    expect(answered.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(answered.task?.artifacts?.[0])).toBe('833 INR');
  });

  it('cancels a task that is followed', async () => {
    const agent = await officialServer();
    const { task } = await agent.send('slow', { returnImmediately: true });
    const following = agent.follow(task!).result();
    expect((await agent.task(task!).cancel()).status.state).toBe('TASK_STATE_CANCELED');
    expect((await following).task?.status.state).toBe('TASK_STATE_CANCELED');
  });
});
