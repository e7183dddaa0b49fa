import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { applyEvent, connect, textOf } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { v03Client } from '../../src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read JSON
type Json = any;

const chunks = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];

/**
 * A server that speaks 0.3 as the Python SDK does: a client that reconnects gets the events from then on, and of a task that
 * has ended only an error. A chunk is made when the step before it was seen through.
 */
async function serveOlder(transport: 'JSONRPC' | 'HTTP+JSON') {
  let made = 0;
  const listeners = new Set<ServerResponse>();
  const ids = { taskId: 't-1', contextId: 'c-1' };
  const isRpc = transport === 'JSONRPC';
  const task = () => ({
    kind: 'task',
    id: 't-1',
    contextId: 'c-1',
    status: { state: made > chunks.length ? 'completed' : 'working' },
    artifacts:
      made > 0
        ? [{ artifactId: 'a', parts: chunks.slice(0, made).map((text) => ({ kind: 'text', text })) }]
        : null,
    history: null,
  });
  const wrap = (result: Json) =>
    JSON.stringify(isRpc ? { jsonrpc: '2.0', id: 1, result, error: null } : result);
  const publish = (event: Json) => {
    for (const response of listeners) response.write(`data: ${wrap(event)}\n\n`);
  };
  /** What happens next. */
  const step = () => {
    const text = chunks[made];
    made += 1;
    if (text) {
      const artifact = { artifactId: 'a', parts: [{ kind: 'text', text }] };
      return publish({ kind: 'artifact-update', ...ids, artifact, append: made > 1, lastChunk: null });
    }
    publish({ kind: 'status-update', ...ids, status: { state: 'completed', message: null }, final: true });
    for (const response of listeners) response.end();
    return undefined;
  };
  const refuse = (response: ServerResponse, code: number, message: string) =>
    response
      .writeHead(isRpc ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(isRpc ? { jsonrpc: '2.0', id: 1, error: { code, message } } : { code, message }));
  const opened = { onOpen: () => {}, canRead: true };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const piece of request) body += piece;
    const asked = isRpc ? JSON.parse(body).method : `${request.method} ${request.url}`;
    if (/tasks\/get$|GET .*t-1$/.test(asked))
      return opened.canRead ? response.end(wrap(task())) : refuse(response, -32001, 'Task not found');
    const isFirst = /message[/:]stream/.test(asked);
    if (!isFirst && made > chunks.length)
      return refuse(response, -32602, 'Task t-1 is in terminal state: completed');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (isFirst) response.write(`data: ${wrap(task())}\n\n`);
    listeners.add(response);
    response.on('close', () => listeners.delete(response));
    response.flushHeaders();
    return opened.onOpen();
  };
  const http = createServer(answer);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const card = {
    url,
    preferredTransport: transport,
    additionalInterfaces: null,
    security: null,
    name: 'Old',
    description: '',
    version: '1',
    capabilities: { streaming: true, extensions: null },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: null,
  };
  const agent = await connect(card as Json, {
    compatibility: [v03Client()],
    retry: { firstMs: 1, longestMs: 5 },
  });
  return { agent, step, opened, drop: () => http.closeAllConnections() };
}

describe.each(['JSONRPC', 'HTTP+JSON'] as const)(
  'a task of 0.3 on %s that is followed later [R-SUB-06]',
  (transport) => {
    it('comes whole, though its stream begins in the middle', async () => {
      const { agent, step, opened } = await serveOlder(transport);
      for (let number = 0; number < 3; number += 1) step();
      opened.onOpen = step;
      const stream = agent.follow('t-1');
      for await (const _ of stream) step();
      expect(textOf(stream.task?.artifacts?.[0])).toBe(chunks.join(''));
      expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    });

    it('comes first to a plain subscription, and then each update once', async () => {
      const { agent, step, opened } = await serveOlder(transport);
      for (let number = 0; number < 3; number += 1) step();
      opened.onOpen = step;
      let task: Task | undefined;
      const kinds: string[] = [];
      for await (const event of agent.subscribeToTask({ id: 't-1' })) {
        kinds.push(Object.keys(event).join());
        task = applyEvent(task, event);
        expect(chunks.join('')).toContain(textOf(task?.artifacts?.[0]));
        step();
      }
      expect(kinds[0]).toBe('task');
      expect(textOf(task?.artifacts?.[0])).toBe(chunks.join(''));
      expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    });

    it('fails a plain subscription where it cannot be read: half a task looks like a whole one', async () => {
      const { agent, step, opened } = await serveOlder(transport);
      step();
      opened.onOpen = step;
      opened.canRead = false;
      const events = agent.subscribeToTask({ id: 't-1' });
      await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    });

    it('loses nothing when the stream is cut and chunks come before it is back', async () => {
      const { agent, step, opened, drop } = await serveOlder(transport);
      opened.onOpen = step;
      const stream = agent.stream('go');
      let cut = false;
      for await (const { artifactUpdate } of stream) {
        if (!cut && artifactUpdate && textOf(artifactUpdate.artifact) === 'c2') {
          cut = true;
          drop();
          step();
        } else step();
      }
      expect(cut).toBe(true);
      expect(textOf(stream.task?.artifacts?.[0])).toBe(chunks.join(''));
    });

    it('is found to have ended while no client was connected', async () => {
      const { agent, step, opened, drop } = await serveOlder(transport);
      opened.onOpen = step;
      const stream = agent.stream('go');
      for await (const { artifactUpdate } of stream) {
        if (artifactUpdate) {
          drop();
          for (let number = 1; number < chunks.length + 1; number += 1) step();
        }
      }
      expect(textOf(stream.task?.artifacts?.[0])).toBe(chunks.join(''));
      expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    });
  },
);
