import { createServer } from 'node:http';
import { apiKey } from '@batonjs/auth';
import { connect } from '@batonjs/client';
import { completed, working } from '@batonjs/server';
import { DefaultChatTransport } from 'ai';
import { describe, expect, it } from 'vitest';
import { mounts } from '../../../../test/kit/http/mounts.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { chatHandler } from '../../src/chat/chat-handler.ts';
import { TestChat } from './test-chat.ts';

const agent = async function* ({ text, signal }: { text: string; signal: AbortSignal }) {
  yield working('Thinking');
  if (text === 'hold') await untilAborted(signal);
  yield completed('Done');
};

const userMessage = (text: string) => ({ id: 'message-1', role: 'user', parts: [{ type: 'text', text }] });

const post = (body: unknown, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('the handler of chats', () => {
  it.each(mounts)('is mounted on %s as an agent is', async (_, mount) => {
    const handler = chatHandler(serve(agent));
    const url = await listen(createServer(await mount(handler)));
    const chat = new TestChat({
      id: 'chat 1/2',
      transport: new DefaultChatTransport({ api: `${url}/agent` }),
    });
    await chat.sendMessage({ text: 'Hello' });
    expect(chat).toMatchObject({ status: 'ready', text: 'Done' });
    await chat.resumeStream();
    expect(chat.status).toBe('ready');
    const messages = await fetch(`${url}/agent/chat%201%2F2/messages`);
    expect(await messages.json()).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
    expect(messages.headers.get('cache-control')).toBe('no-store');
  });

  it('separates callers, whom the server authenticates by the headers of their requests', async () => {
    const keys = new Map([
      ['key-of-ada', { scope: 'ada' }],
      ['key-of-bob', { scope: 'bob' }],
    ]);
    const handler = chatHandler(serve(agent, { authenticate: apiKey({ header: 'X-API-Key', keys }) }));
    const body = { id: 'chat-1', messages: [userMessage('Hello')] };
    const refused = await handler.fetch(post(body));
    expect(refused.status).toBe(401);
    expect(await refused.text()).toBe('Authentication required');
    await (await handler.fetch(post(body, { 'x-api-key': 'key-of-ada' }))).text();
    const messagesOf = async (key: string) =>
      (
        await handler.fetch(
          new Request('http://localhost/chat-1/messages', { headers: { 'x-api-key': key } }),
        )
      ).json();
    expect(await messagesOf('key-of-ada')).toHaveLength(2);
    expect(await messagesOf('key-of-bob')).toEqual([]);
  });

  it('refuses what it cannot read, and says nothing of errors inside', async () => {
    const errors: unknown[] = [];
    const handler = chatHandler(
      () => {
        throw new Error('secret of the server');
      },
      { onError: (error) => errors.push(error) },
    );
    const failed = await handler.fetch(post({ id: 'chat-1', messages: [] }));
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain('secret');
    expect(errors).toHaveLength(1);
    const own = chatHandler(serve(agent), {
      bodyBytes: 300,
      onError: (error) => errors.push(error),
    });
    const statusOf = async (request: Request) => (await own.fetch(request)).status;
    expect(await statusOf(post('{'))).toBe(400);
    expect(await statusOf(post({ id: 'chat-1' }))).toBe(400);
    expect(await statusOf(post({ messages: [userMessage('Hello')] }))).toBe(400);
    expect(await statusOf(post({ id: 'c', messages: [{ ...userMessage(''), parts: [] }] }))).toBe(400);
    expect(await statusOf(post({ id: 'c', messages: [userMessage('x'.repeat(300))] }))).toBe(413);
    expect(await statusOf(post('{}', { 'content-type': 'text/plain' }))).toBe(415);
    for (const path of ['', 'chat-1', 'chat-1/other', 'chat-1/stream/more', 'chat-1/messages/more'])
      expect(await statusOf(new Request(`http://localhost/${path}`)), path).toBe(404);
    for (const path of ['', 'chat-1/stream', 'chat-1/messages'])
      expect(await statusOf(new Request(`http://localhost/${path}`, { method: 'DELETE' })), path).toBe(404);
    expect(await statusOf(new Request('http://localhost/chat-1', { method: 'PUT' }))).toBe(404);
    expect(await statusOf(post([]))).toBe(400);
    expect(await statusOf(post({ id: '', messages: [userMessage('Hello')] }))).toBe(400);
    expect(await statusOf(post({ id: 1, messages: [userMessage('Hello')] }))).toBe(400);
    expect(await statusOf(new Request('http://localhost/%ff/stream'))).toBe(400);
    expect(await statusOf(new Request('http://localhost/chat-1/stream'))).toBe(204);
    // The faults of callers are none of the server.
    expect(errors).toHaveLength(1);
    expect(() => chatHandler(serve(agent), { bodyBytes: 0 })).toThrow(RangeError);
    expect(() => chatHandler(serve(agent), { bodyByte: 1 } as object)).toThrow('bodyBytes');
  });

  it('refuses in a sentence, which the default transport shows', async () => {
    const handler = chatHandler(serve(agent));
    const transport = new DefaultChatTransport({
      api: 'http://localhost',
      fetch: (input, init) => handler.fetch(new Request(input, init)),
    });
    const chat = new TestChat({ id: 'chat-1', transport });
    const picture = { type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,AQ==' };
    await chat.sendMessage({ text: 'Look', files: [picture] });
    expect(chat.error?.message).toMatch(/^message\.parts\[0\] is image\/png; this agent reads /);
  });

  it('answers as `useChat` knows it, for any trigger, until the end', async () => {
    const handler = chatHandler(serve(agent));
    for (const trigger of ['submit-message', 7]) {
      const response = await handler.fetch(post({ id: 'chat-1', messages: [userMessage('Hello')], trigger }));
      expect([response.status, response.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1']);
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
      expect(events.slice(-2)).toEqual(['data: {"type":"finish","finishReason":"stop"}', 'data: [DONE]']);
    }
  });

  it('refuses a page of another name that leads to this machine', async () => {
    const handler = chatHandler(serve(agent));
    const rebound = post({ id: 'chat-1', messages: [userMessage('Hello')] }, { host: 'evil.example' });
    expect((await handler.fetch(rebound)).status).toBe(403);
  });

  it('cancels on DELETE, and lets the task go on when the page leaves', async () => {
    const server = serve(agent);
    const handler = chatHandler(server);
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    const left = new AbortController();
    const request = new Request(post({ id: 'chat-1', messages: [userMessage('hold')] }), {
      signal: left.signal,
    });
    const reader = (await handler.fetch(request)).body!.getReader();
    await reader.read();
    const taskId = await eventually(
      async () => (await client.listTasks({ contextId: 'chat-1' })).tasks[0]!.id,
    );
    left.abort();
    await until(server, taskId, 'WORKING');
    const canceled = () => handler.fetch(new Request('http://localhost/chat-1', { method: 'DELETE' }));
    expect((await canceled()).status).toBe(202);
    await until(server, taskId, 'CANCELED');
    expect((await canceled()).status).toBe(204);
  });

  it('asks the agent for nothing more when the page leaves', async () => {
    const server = serve(agent);
    const followed: Request[] = [];
    const handler = chatHandler({
      handle: server.handle,
      fetch: (request) => {
        followed.push(request);
        return server.fetch(request);
      },
    });
    const left = new AbortController();
    const body = post({ id: 'chat-1', messages: [userMessage('hold')] });
    const response = await handler.fetch(new Request(body, { signal: left.signal }));
    await response.body!.getReader().read();
    expect(followed.at(-1)!.signal.aborted).toBe(false);
    left.abort();
    await eventually(() => expect(followed.at(-1)!.signal.aborted).toBe(true));
  });

  it.each(['handler', 'server'] as const)(
    'breaks off its streams when the %s closes, so that the page resumes',
    async (which) => {
      const server = serve(agent);
      const handler = chatHandler(server);
      const response = await handler.fetch(post({ id: 'chat-1', messages: [userMessage('hold')] }));
      const reader = response.body!.getReader();
      await reader.read();
      await (which === 'handler' ? handler.close() : server.close({ graceMs: 0 }));
      await expect(
        (async () => {
          while (!(await reader.read()).done);
        })(),
      ).rejects.toThrow();
      if (which === 'handler') expect((await handler.fetch(post({}))).status).toBe(503);
    },
  );
});
