import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKey } from '@batonjs/auth';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { type AgentClient, type AgentReply, type ConnectOptions, connect } from '@batonjs/client';
import type { StreamResponse } from '@batonjs/protocol';
import { artifact, completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const key = 'secret-of-the-client';
const hook = 'http://127.0.0.1:9/hook';
let http: Server;
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const server = createAgentServer({
    card: { name: 'Every', description: 'For everybody', extended: { description: 'For you' } },
    agent: async function* ({ text }) {
      yield working('On it');
      if (text === 'ask') {
        yield inputRequired('Well?');
        return;
      }
      yield artifact('said', text);
      yield completed('Done');
    },
    store: memoryStore(),
    authenticate: apiKey({ header: 'X-API-Key', keys: new Map([[key, { scope: 'client' }]]) }),
    push: { allow: ['127.0.0.1:*'] },
    logger: () => {},
  });
  const app = express().use('/agent', a2aExpress(server));
  http = await new Promise<Server>((resolve) => {
    const listening = createServer(app).listen(0, '127.0.0.1', () => resolve(listening));
  });
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/agent`;
  const listener = await listenGrpc(server, { port: 0 });
  close = async () => {
    await Promise.all([server.close({ graceMs: 0 }), listener.close({ graceMs: 0 })]);
  };
});
afterAll(async () => {
  await close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

/** Options of a client that uses one binding. */
const over = (binding: string): ConnectOptions => ({
  binding,
  ...(binding === 'GRPC' && { bindings: [grpcClient()] }),
});
const collect = async (events: AsyncIterable<StreamResponse>) => {
  const kinds: string[] = [];
  for await (const event of events) kinds.push(Object.keys(event)[0]!);
  return kinds;
};
const said = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER' as const, parts: [{ text }] },
});
const ask = async (client: AgentClient) => ((await client.sendMessage(said('ask'))) as AgentReply).task!;
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error) => error.reason,
  );

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'])(
  'our client and our server on %s [R-OP-01] [R-BIND-01]',
  (binding) => {
    let client: AgentClient;
    beforeAll(async () => {
      client = await connect(url, { ...over(binding), credentials: () => ({ 'X-API-Key': key }) });
    });

    // biome-ignore format: a table reads best with one row per line
    const operations: Record<string, (client: AgentClient) => Promise<unknown>> = {
    sendMessage: async (client) => ((await client.sendMessage(said('hello'))) as AgentReply).task?.artifacts,
    sendStreamingMessage: (client) => collect(client.sendStreamingMessage(said('hello'))),
    getTask: async (client) => (await client.getTask({ id: (await ask(client)).id, historyLength: 1 })).history?.length,
    listTasks: async (client) => (await client.listTasks({ contextId: (await ask(client)).contextId, pageSize: 1 })).totalSize,
    cancelTask: async (client) => (await client.cancelTask({ id: (await ask(client)).id, metadata: { why: 'x' } })).status.state,
    async subscribeToTask(client) {
      const { id } = await ask(client);
      const events = client.subscribeToTask({ id })[Symbol.asyncIterator]();
      const first = await events.next();
      await client.cancelTask({ id });
      return [Object.keys(first.value!)[0], Object.keys((await events.next()).value!)[0], (await events.next()).done];
    },
    createTaskPushNotificationConfig: async (client) => client.createTaskPushNotificationConfig({ taskId: (await ask(client)).id, id: 'w', url: hook }).then(({ id, url }) => [id, url]),
    async getTaskPushNotificationConfig(client) {
      const { id: taskId } = await ask(client);
      await client.createTaskPushNotificationConfig({ taskId, id: 'w', url: hook, token: 'secret' });
      return client.getTaskPushNotificationConfig({ taskId, id: 'w' }).then(({ id, url, token }) => [id, url, token]);
    },
    async listTaskPushNotificationConfigs(client) {
      const { id: taskId } = await ask(client);
      for (const id of ['v', 'w']) await client.createTaskPushNotificationConfig({ taskId, id, url: hook });
      const { configs = [] } = await client.listTaskPushNotificationConfigs({ taskId });
      return configs.map(({ id }) => id).sort();
    },
    async deleteTaskPushNotificationConfig(client) {
      const { id: taskId } = await ask(client);
      await client.createTaskPushNotificationConfig({ taskId, id: 'w', url: hook });
      const results = [await client.deleteTaskPushNotificationConfig({ taskId, id: 'w' }), await client.deleteTaskPushNotificationConfig({ taskId, id: 'w' })];
      return [...results, await failure(client.getTaskPushNotificationConfig({ taskId, id: 'w' }))];
    },
    getExtendedAgentCard: async (client) => (await client.getExtendedAgentCard()).description,
  };
    // biome-ignore format: a table reads best with one row per line
    const expected: Record<keyof typeof operations, unknown> = {
    sendMessage: [expect.objectContaining({ artifactId: 'said', parts: [{ text: 'hello' }] })],
    sendStreamingMessage: ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate'],
    getTask: 1,
    listTasks: 1,
    cancelTask: 'TASK_STATE_CANCELED',
    subscribeToTask: ['task', 'statusUpdate', true],
    createTaskPushNotificationConfig: ['w', hook],
    getTaskPushNotificationConfig: ['w', hook, undefined],
    listTaskPushNotificationConfigs: ['v', 'w'],
    deleteTaskPushNotificationConfig: [{}, {}, 'TASK_NOT_FOUND'],
    getExtendedAgentCard: 'For you',
  };

    it.each(Object.keys(operations))('do %s together', async (name) => {
      expect(await operations[name]!(client)).toEqual(expected[name]);
    });

    it('have all eleven operations in this table', () => {
      expect(Object.keys(operations)).toHaveLength(11);
      expect(Object.keys(operations).filter((name) => !(name in client))).toEqual([]);
    });

    it.each(['getTask', 'cancelTask'] as const)('agree that a task is missing in %s', async (name) => {
      expect(await failure(client[name]({ id: 'nobody' }))).toBe('TASK_NOT_FOUND');
    });

    it('agree on who may not ask', async () => {
      const stranger = await connect(url, over(binding));
      expect(await failure(stranger.listTasks({}))).toBe('UNAUTHENTICATED');
      expect(await failure(stranger.getExtendedAgentCard())).toBe('UNAUTHENTICATED');
    });
  },
);
