import { createServer } from 'node:http';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import { attachWebSocket } from '@batonjs/bindings-websocket';
import { webSocketClient } from '@batonjs/bindings-websocket/client';
import { connect } from '@batonjs/client';
import { type Agent, createAgentServer, reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { createTaskGateway } from '@batonjs/task-gateway';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../kit/closed-after-test.ts';
import { listen } from '../../kit/listen.ts';

// What a request costs in time goes by the number of its values: `docs/operating/threat-model.md` has the figures.

const most = 1_000;

/** An agent over every binding, and the texts that reached it. */
async function serve() {
  const reached: string[] = [];
  const agent: Agent = ({ text }) => {
    reached.push(text);
    return reply(text);
  };
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Echo', description: 'Says it again' },
      agent,
      store: memoryStore(),
      logger: () => {},
      limits: { jsonValues: most },
      compatibility: [v03()],
    }),
  );
  const http = createServer(nodeHandler(server));
  const sockets = attachWebSocket(server, http);
  const grpc = await listenGrpc(server, { port: 0 });
  onTestFinished(() =>
    Promise.all([sockets.close({ graceMs: 0 }), grpc.close({ graceMs: 0 })]).then(() => {}),
  );
  return { url: await listen(http), reached };
}

const values = (count: number) => Array(count).fill('x');
const names = (count: number) => Object.fromEntries(values(count).map((value, n) => [`n${n}`, value]));
const message = (data: unknown, text: string) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER' as const,
  parts: [{ text }, { data }],
});

describe.each([
  ['JSONRPC', () => undefined],
  ['HTTP+JSON', () => undefined],
  ['GRPC', grpcClient],
  ['WEBSOCKET', webSocketClient],
] as const)('over %s', (binding, bindingOf) => {
  it('a request of more values than `limits.jsonValues` is refused before it is read further', async () => {
    const { url, reached } = await serve();
    const own = bindingOf();
    const agent = await connect(url, own ? { bindings: [own], retry: false } : { binding, retry: false });
    for (const data of [values(most), names(most / 5 + 1), values(5 * most)])
      await expect(agent.send(message(data, 'too much') as never)).rejects.toMatchObject({
        reason: expect.stringMatching(/^INVALID_/),
      });
    await agent.send(message(values(most - 50), 'values') as never);
    await agent.send(message(names(most / 5 - 50), 'names') as never);
    expect(reached).toEqual(['values', 'names']);
  });
});

it('so it is over WebSocket, whose refusal has the id, as that stands at the start', async () => {
  const { url, reached } = await serve();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['a2a.v1']);
  onTestFinished(() => socket.close());
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const send = async (data: unknown, text: string) => {
    const answer = new Promise<string>((resolve) =>
      socket.addEventListener('message', ({ data: frame }) => resolve(String(frame)), { once: true }),
    );
    const params = { message: message(data, text) };
    const serviceParams = { 'a2a-version': '1.0' };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params, serviceParams }));
    return JSON.parse(await answer);
  };
  for (const data of [values(most), names(most / 5 + 1)])
    expect(await send(data, 'too much')).toMatchObject({ id: 1, error: { code: -32_600 } });
  expect(await send(values(most - 50), 'values')).toHaveProperty('result');
  expect(reached).toEqual(['values']);
});

it('so it is over 0.3', async () => {
  const { url, reached } = await serve();
  const send = async (data: unknown) => {
    const parts = [{ kind: 'data', data: { data } }];
    const sent = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts };
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: sent } };
    const headers = { 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  for (const data of [values(most), names(most / 5 + 1)])
    expect(await send(data)).toHaveProperty('error.code', -32_600);
  expect(await send(values(most - 50))).toHaveProperty('result');
  expect(reached).toHaveLength(1);
});

it('a task of the gateway has at most 20,000 values', async () => {
  const gateway = closedAfterTest(createTaskGateway({ types: {}, logger: () => {} }));
  const url = await listen(createServer(nodeHandler(gateway)));
  const body = JSON.stringify({ taskId: 't', type: 'none', data: { list: values(20_000) } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/task`, { method: 'POST', headers, body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('20000 values');
});
