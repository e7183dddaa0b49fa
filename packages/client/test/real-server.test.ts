import type { AddressInfo } from 'node:net';
import { createServer, connect as openSocket, type Server, type Socket } from 'node:net';
import { connect } from '@batonjs/client';
import {
  append,
  artifact,
  completed,
  createAgentServer,
  inputRequired,
  type Turn,
  working,
} from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { collect, failureOf } from './serve.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const card = { name: 'Counter', description: 'Counts', version: '1.0.0', skills: [] };

/** Counts up to the number in the message, one chunk per number. Asks if there is no number. */
async function* count(turn: Turn) {
  const last = Number.parseInt(turn.text, 10);
  if (Number.isNaN(last)) {
    yield inputRequired('How far?');
    return;
  }
  yield working('Counting');
  yield artifact('numbers', '0');
  for (let number = 1; number <= last; number += 1) {
    if (number % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    yield append('numbers', ` ${number}`);
  }
  yield completed();
}

const counter = () => {
  const server = createAgentServer({ card, agent: count, store: memoryStore() });
  closers.push(() => server.close({ graceMs: 0 }));
  return server;
};

/** The agent over HTTP, behind a proxy that cuts every connection after this many bytes of an answer. */
async function behindProxy(cutAfter: number) {
  const app = express();
  const listening = await new Promise<Server>((resolve) => {
    const http = app.listen(0, '127.0.0.1', () => resolve(http as unknown as Server));
  });
  const sockets = new Set<Socket>();
  let cuts = 0;
  const proxy = createServer((incoming) => {
    const outgoing = openSocket((listening.address() as AddressInfo).port, '127.0.0.1');
    let passed = 0;
    let streams = false;
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        incoming.destroy();
        outgoing.destroy();
      });
    }
    incoming.pipe(outgoing);
    outgoing.on('data', (data: Buffer) => {
      streams ||= data.includes('text/event-stream');
      passed += data.length;
      if (streams && passed > cutAfter) {
        cuts += 1;
        incoming.write(data.subarray(0, Math.floor(data.length / 2)), () => incoming.destroy());
      } else incoming.write(data);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const server = createAgentServer({ card, agent: count, store: memoryStore(), publicUrl });
  app.use(a2aExpress(server));
  closers.push(async () => {
    await server.close({ graceMs: 0 });
    for (const socket of sockets) socket.destroy();
    proxy.close();
    listening.close();
  });
  return { url: publicUrl, cuts: () => cuts };
}

const numbersTo = (last: number) => Array.from({ length: last + 1 }, (_, number) => number).join(' ');
const numbersOf = (task: { artifacts?: { parts: object[] }[] } | undefined) =>
  task?.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('');

describe.each(['JSONRPC', 'HTTP+JSON'])('a real server on %s', (binding) => {
  it('is called in the same process, without a network', async () => {
    const agent = await connect('http://localhost', { fetch: counter().fetch, binding });
    const { task } = await agent.send('3');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(numbersOf(task)).toBe('0 1 2 3');
    expect((await agent.task(task!).get()).id).toBe(task?.id);
    expect((await agent.listTasks({ contextId: task!.contextId })).tasks).toHaveLength(1);
    expect((await failureOf(agent.getTask({ id: 'missing' }))).reason).toBe('TASK_NOT_FOUND');
    expect((await failureOf(agent.task(task!).cancel())).reason).toBe('TASK_NOT_CANCELABLE');
  });

  it('streams the events of a task and folds them into it', async () => {
    const agent = await connect('http://localhost', { fetch: counter().fetch, binding });
    const stream = agent.stream('5');
    const events = await collect(stream);
    expect(events[0]).toHaveProperty('task');
    expect(numbersOf(stream.task)).toBe('0 1 2 3 4 5');
    const { history: _, ...streamed } = stream.task!;
    const { history: __, ...stored } = await agent.getTask({ id: streamed.id });
    expect({ ...streamed, artifacts: stored.artifacts }).toEqual(stored);
  });

  it('asks, is answered, and goes on with the same task', async () => {
    const agent = await connect('http://localhost', { fetch: counter().fetch, binding });
    const { task } = await agent.stream('count').result();
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await agent.stream('2', { task: task! }).result();
    expect([answered.task?.id, answered.task?.status.state]).toEqual([task?.id, 'TASK_STATE_COMPLETED']);
  });

  it('is followed through a connection that breaks all the time, with every event exactly once', async () => {
    const { url, cuts } = await behindProxy(4_000);
    const agent = await connect(url, { binding, retry: { firstMs: 1, longestMs: 5, attempts: 50 } });
    const stream = agent.stream('300');
    const events = await collect(stream);
    expect(cuts()).toBeGreaterThan(5);
    expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(numbersOf(stream.task)).toBe(numbersTo(300));
    expect(events.filter((event) => event.artifactUpdate)).toHaveLength(301);
    expect(events.filter((event) => event.task)).toHaveLength(1);
  });

  it('is followed again from a position that was kept, after the task has ended', async () => {
    const agent = await connect('http://localhost', { fetch: counter().fetch, binding });
    const first = agent.stream('9');
    let position: string | undefined;
    for await (const event of first) if (event.artifactUpdate) position ??= first.lastEventId;
    const rest = await collect(agent.follow(first.task!, { lastEventId: position }));
    expect(rest.filter((event) => event.artifactUpdate)).toHaveLength(9);
    expect(await collect(agent.follow(first.task!, { lastEventId: first.lastEventId }))).toMatchObject([
      { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    ]);
  });

  it('yields the task when the position is of another log', async () => {
    const agent = await connect('http://localhost', { fetch: counter().fetch, binding });
    const { task } = await agent.send('3');
    const events = await collect(agent.follow(task!, { lastEventId: 'elsewhere.2' }));
    expect(events).toMatchObject([{ task: { id: task!.id, status: { state: 'TASK_STATE_COMPLETED' } } }]);
  });
});
