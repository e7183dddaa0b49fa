import { type AgentClient, connect } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { completed, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { resumeChat, sendChat } from '../../src/chat/chat.ts';
import { chatHandler } from '../../src/chat/chat-handler.ts';
import { chatMessages } from '../../src/chat/transport.ts';
import { A2AChatTransport } from '../../src/chat.ts';

/** An agent with these tasks, and the signals of the calls that list them. */
function agentWith(...tasks: object[]) {
  const signals: unknown[] = [];
  const agent = {
    async listTasks(_: unknown, options: { signal?: AbortSignal } = {}) {
      signals.push(options.signal);
      return { tasks: tasks as Task[], nextPageToken: '' };
    },
  } as unknown as AgentClient;
  return { agent, signals };
}

describe('the messages of a chat', () => {
  const status = (state: string) => ({
    state: `TASK_STATE_${state}`,
    message: { messageId: 'last', role: 'ROLE_AGENT', parts: [{ text: 'Words' }] },
  });
  const asked = {
    messageId: 'm',
    role: 'ROLE_USER',
    parts: [
      { text: 'Hi' },
      { url: 'https://a', mediaType: 'image/png' },
      { raw: 'aGk=', mediaType: 'text/plain' },
      { url: 'https://b' },
      { data: { a: 1 } },
    ],
  };

  it('have what the user sent, and the answer', async () => {
    const { agent } = agentWith({ id: 't', contextId: 'c', status: status('COMPLETED'), history: [asked] });
    const [user, answer, ...more] = await chatMessages(agent, 'c');
    expect(user).toEqual({
      id: 'm',
      role: 'user',
      parts: [
        { type: 'text', text: 'Hi' },
        { type: 'file', mediaType: 'image/png', url: 'https://a' },
        { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' },
        { type: 'file', mediaType: 'application/octet-stream', url: 'https://b' },
        { type: 'data-answer', data: { a: 1 } },
      ],
    });
    expect([answer?.id, answer?.role, more]).toEqual(['answer-m', 'assistant', []]);
    expect(answer?.parts).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ type: 'text', text: 'Words' })]),
    );
  });

  it('have what a task gave before it failed', async () => {
    const artifacts = [{ artifactId: 'x', parts: [{ text: 'Half' }] }];
    const { agent } = agentWith({
      id: 't',
      contextId: 'c',
      status: status('FAILED'),
      history: [asked],
      artifacts,
    });
    const [, answer] = await chatMessages(agent, 'c');
    expect(answer?.parts).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ type: 'text', text: 'Half' })]),
    );
  });
});

describe('a chat', () => {
  it('sends a message, or answers that a task waits for', async () => {
    const { agent } = agentWith();
    await expect(sendChat(agent, { chatId: 'c', messages: [] })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'The chat has no message',
    });
    const messages = [{ id: 'a', role: 'assistant' as const, parts: [] }];
    await expect(sendChat(agent, { chatId: 'c', messages })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'No task of this chat waits for an answer',
    });
  });

  it('that is resumed looks for its task as long as it is wanted', async () => {
    const { agent, signals } = agentWith();
    const { signal } = new AbortController();
    expect(await resumeChat(agent, 'c', { signal })).toBeUndefined();
    const messages = [{ id: 'm', role: 'user' as const, parts: [] }];
    await expect(sendChat(agent, { chatId: 'c', messages }, { signal })).rejects.toThrow('has no content');
    expect(signals).toEqual([signal, signal]);
  });

  it('gives an answer that ended between reading its messages and resuming it, and none that was read', async () => {
    const done = Promise.withResolvers<void>();
    const server = serve(async function* () {
      yield working();
      await done.promise;
      yield completed('The end');
    });
    const agent = await connect('http://agent.localhost', { fetch: (request) => server.fetch(request) });
    const chatId = crypto.randomUUID();
    const parts = [{ text: 'Hi' }];
    const { task } = await agent.send(
      { role: 'ROLE_USER', contextId: chatId, parts },
      { returnImmediately: true },
    );
    expect((await chatMessages(agent, chatId)).map(({ role }) => role)).toEqual(['user']);
    done.resolve();
    await expect
      .poll(async () => (await agent.getTask({ id: task!.id })).status.state)
      .toBe('TASK_STATE_COMPLETED');
    const chunks: unknown[] = [];
    for await (const chunk of (await resumeChat(agent, chatId))!) chunks.push(chunk);
    expect(JSON.stringify(chunks)).toContain('The end');
    expect((await chatMessages(agent, chatId)).map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(await resumeChat(agent, chatId)).toBeUndefined();
  });

  it('connects when it is first needed, once', async () => {
    let connected = 0;
    const { agent } = agentWith();
    const transport = new A2AChatTransport(async () => {
      connected += 1;
      if (connected === 1) throw new Error('Not yet');
      return agent;
    });
    await expect(transport.reconnectToStream({ chatId: 'c' } as never)).rejects.toThrow('Not yet');
    expect(await transport.reconnectToStream({ chatId: 'c' } as never)).toBeNull();
    expect(await transport.cancel('c')).toBe(false);
    expect(connected).toBe(2);
    expect(await new A2AChatTransport(agent).reconnectToStream({ chatId: 'c' } as never)).toBeNull();
  });
});

it('the handler gives messages as JSON, and takes a chat by POST only', async () => {
  const server = serve(async function* () {
    yield completed();
  });
  const handler = chatHandler(server);
  const response = await handler.fetch(new Request('http://localhost/c/messages'));
  expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
    200,
    expect.stringContaining('application/json'),
    [],
  ]);
  expect((await handler.fetch(new Request('http://localhost/'))).status).toBe(404);
});
