import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { legacyPushNotificationToV1StreamResponse } from '@a2a-js/sdk/compat/v0_3';
import { TaskNotCancelableError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { connect } from '@batonjs/client';
import {
  type Agent,
  artifact,
  completed,
  data,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
  working,
} from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import express from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serveOfficial } from '../../../test/kit/official-server.ts';
import { translations, v03Client } from '../src/index.ts';
import { serve } from './serve.ts';
import { webhook } from './webhook.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON with matchers
type Json = any;
const bindings = ['JSONRPC', 'HTTP+JSON'] as const;

/** Our server on a real port. Does what the text says: `talk`, `ask`, `hold` until it is let go; works otherwise. */
async function serveOurs() {
  const held = Promise.withResolvers<void>();
  async function* work({ text, messages }: Turn): AsyncGenerator<TaskUpdate> {
    if (text === 'ask' && messages.length === 1) return yield inputRequired('Which currency?');
    yield working('On it');
    if (text === 'hold') await held.promise;
    yield artifact('quote', '833 INR', data([83.3]));
    yield completed('Done');
  }
  const agent: Agent = (turn) => (turn.text === 'talk' ? reply('Nice to meet you') : work(turn));
  const server = serve({ agent, push: { allow: ['127.0.0.1:*'] } }, { card: 'plain' });
  const http = createServer(express().use('/agent', a2aExpress(server)));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    held.resolve();
    http.close();
    http.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/agent`, letGo: held.resolve };
}

/** The official client as one that was written for 0.3: it does not say which version it reads cards of. */
async function officialClient(url: string, binding: (typeof bindings)[number]): Promise<Client> {
  const legacyCompat = { enabled: true };
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('a2a-version');
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ legacyCompat, fetchImpl }),
      new RestTransportFactory({ legacyCompat, fetchImpl }),
    ],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat, fetchImpl }),
  });
  const client = await factory.createFromUrl(`${url}/.well-known/agent-card.json`, '');
  expect([client.transport.protocolName, client.transport.protocolVersion]).toEqual([binding, '0.3']);
  return client;
}

let ids = 0;
const request = (text: string, message: object = {}, configuration?: object): SendMessageRequest => {
  ids += 1;
  return SendMessageRequest.fromJSON({
    message: { messageId: `sdk-${ids}`, role: 'ROLE_USER', parts: [{ text }], ...message },
    ...(configuration && { configuration }),
  });
};
const byId = (id: string) => ({ tenant: '', id });
const taskOf = (result: Message | Task): Json => Task.toJSON(result as Task);
const eventsOf = async (events: AsyncIterable<StreamResponse>): Promise<Json[]> => {
  const all: Json[] = [];
  for await (const event of events) all.push(StreamResponse.toJSON(event));
  return all;
};

describe.each(bindings)('the client of the official SDK, on %s of 0.3', (binding) => {
  it('sends, waits or not, and gets tasks and messages', async () => {
    const { url, letGo } = await serveOurs();
    const client = await officialClient(url, binding);
    const task = taskOf(await client.sendMessage(request('10 USD in INR', {}, { acceptedOutputModes: [] })));
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_AGENT', parts: [{ text: 'Done' }] } },
      artifacts: [{ artifactId: 'quote', parts: [{ text: '833 INR' }, expect.anything()] }],
    });
    expect(taskOf(await client.getTask(byId(task.id)))).toMatchObject({ id: task.id, history: task.history });
    const message = await client.sendMessage(request('talk'));
    expect(Message.toJSON(message as Message)).toMatchObject({ parts: [{ text: 'Nice to meet you' }] });
    const at = taskOf(await client.sendMessage(request('hold', {}, { returnImmediately: true })));
    expect(at.status.state).toMatch(/SUBMITTED|WORKING/);
    const followed = client.resubscribeTask(byId(at.id));
    const { value: first } = await followed.next();
    expect(StreamResponse.toJSON(first as StreamResponse)).toMatchObject({ task: { id: at.id } });
    letGo();
    expect((await eventsOf(followed)).at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    const afterwards = await eventsOf(client.resubscribeTask(byId(at.id)));
    expect(afterwards).toMatchObject([{ task: { id: at.id, status: { state: 'TASK_STATE_COMPLETED' } } }]);
  });

  it('streams, asks and is answered', async () => {
    const client = await officialClient((await serveOurs()).url, binding);
    const events = await eventsOf(client.sendMessageStream(request('ask')));
    const { task } = events[0];
    expect((events.at(-1).statusUpdate ?? events.at(-1).task).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answer = request('INR', { taskId: task.id, contextId: task.contextId });
    const words = await eventsOf(client.sendMessageStream(answer));
    expect(words.map((event) => Object.keys(event)[0]).slice(-3)).toEqual([
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(words.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('knows our errors', async () => {
    const client = await officialClient((await serveOurs()).url, binding);
    const task = taskOf(await client.sendMessage(request('10 USD')));
    await expect(client.getTask(byId('missing'))).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask({ ...byId(task.id), metadata: {} })).rejects.toBeInstanceOf(
      TaskNotCancelableError,
    );
    const failure = await eventsOf(client.resubscribeTask(byId('missing'))).catch((error) => error);
    expect(failure.cause ?? failure).toBeInstanceOf(TaskNotFoundError);
  });

  it('registers a webhook and reads what it gets', async () => {
    const { url, letGo } = await serveOurs();
    const client = await officialClient(url, binding);
    const hook = await webhook();
    const task = taskOf(await client.sendMessage(request('hold', {}, { returnImmediately: true })));
    const config = {
      tenant: '',
      taskId: task.id,
      id: 'mine',
      url: hook.url,
      token: 'secret',
      authentication: undefined,
    };
    expect(await client.createTaskPushNotificationConfig(config)).toMatchObject({
      id: 'mine',
      url: hook.url,
    });
    const { configs } = await client.listTaskPushNotificationConfig({
      tenant: '',
      taskId: task.id,
      pageSize: 0,
      pageToken: '',
    });
    expect(configs).toMatchObject([{ id: 'mine', taskId: task.id }]);
    letGo();
    await vi.waitFor(() => expect(hook.received.at(-1)?.body.status?.state).toBe('completed'));
    const { headers, body } = hook.received.at(-1)!;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-a2a-notification-token': 'secret',
    });
    expect(StreamResponse.toJSON(legacyPushNotificationToV1StreamResponse(body))).toMatchObject({
      statusUpdate: { taskId: task.id, status: { state: 'TASK_STATE_COMPLETED' } },
    });
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: task.id, id: 'mine' });
  });
});

const about03 = { version: '0.3', chunks: [[{ text: '833 INR' }, { data: { rate: 83.3 } }]] } as const;

describe.each(bindings)('the server of the official SDK, on %s of 0.3', (binding) => {
  const options = { compatibility: [v03Client()], binding, retry: { firstMs: 1 } };

  it('is found by its card, sent to and asked for tasks', async () => {
    const agent = await connect((await serveOfficial(about03)).url, options);
    expect(agent.interface).toMatchObject({ protocolBinding: binding, protocolVersion: '0.3' });
    const { task } = await agent.send('10 USD in INR');
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_AGENT', parts: [{ text: 'Done' }] } },
      artifacts: [{ artifactId: 'quote', parts: [{ text: '833 INR' }, { data: { rate: 83.3 } }] }],
    });
    expect(await agent.getTask({ id: task!.id })).toMatchObject({ id: task!.id, contextId: task!.contextId });
    expect((await agent.send('talk')).message?.parts).toEqual([{ text: 'Nice to meet you' }]);
  });

  it('streams, asks, is answered and followed', async () => {
    const { url, release } = await serveOfficial(about03);
    const agent = await connect(url, options);
    const asked = await agent.stream('ask').result();
    expect(asked.task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await agent.stream('INR', { task: asked.task! }).result();
    expect([answered.task?.id, answered.task?.status.state]).toEqual([
      asked.task?.id,
      'TASK_STATE_COMPLETED',
    ]);
    const { task } = await agent.send('hold', { returnImmediately: true });
    const followed = agent.follow(task!).result();
    release();
    expect((await followed).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is followed through a broken connection, and nothing is missed or doubled', async () => {
    const { url, release, drop } = await serveOfficial(about03);
    const agent = await connect(url, options);
    const stream = agent.stream('hold');
    let isBroken = false;
    for await (const { statusUpdate } of stream)
      if (!isBroken && statusUpdate) {
        isBroken = true;
        drop();
        release();
      }
    expect(isBroken).toBe(true);
    expect(stream.task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'quote', parts: [{ text: '833 INR' }, { data: { rate: 83.3 } }] }],
    });
  });

  it('makes errors that have our names', async () => {
    const agent = await connect((await serveOfficial(about03)).url, options);
    const { task } = await agent.send('10 USD');
    await expect(agent.getTask({ id: 'missing' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(agent.task(task!).cancel()).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    const listen = async () => {
      for await (const _ of agent.subscribeToTask({ id: 'missing' }));
    };
    await expect(listen()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('sends a webhook a body that our receiver reads', async () => {
    const { url, release } = await serveOfficial(about03);
    const agent = await connect(url, options);
    const hook = await webhook();
    const { task } = await agent.send('hold', { returnImmediately: true });
    const config = { taskId: task!.id, id: 'mine', url: hook.url, token: 'secret' };
    expect(await agent.createTaskPushNotificationConfig(config)).toMatchObject(config);
    expect((await agent.listTaskPushNotificationConfigs({ taskId: task!.id })).configs).toMatchObject([
      { id: 'mine', url: hook.url },
    ]);
    release();
    await vi.waitFor(() => expect(hook.received.at(-1)?.body.status?.state).toBe('completed'));
    // It sends the task as it is then, not what happened to it.
    expect(translations.event.up(hook.received.at(-1)!.body).value).toMatchObject({
      task: { id: task!.id, status: { state: 'TASK_STATE_COMPLETED' } },
    });
    await agent.deleteTaskPushNotificationConfig({ taskId: task!.id, id: 'mine' });
  });
});
