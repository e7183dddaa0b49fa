import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Message, Task } from '@batonjs/protocol';
import { listen } from '../../../../test/kit/listen.ts';

/** A foreign agent that asks, takes every message as a new one, and thinks long before it shows that it got an answer. */
export async function serveSilentAgent() {
  const task: Task = {
    id: 'silent',
    contextId: '',
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { messageId: 'question', role: 'ROLE_AGENT', parts: [{ text: 'Which one?' }] },
    },
    history: [],
  };
  const ended = Promise.withResolvers<void>();
  const messages: Message[] = [];
  let url = '';
  let isFollowed = false;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (value: object) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    if (request.method === 'GET')
      return void json({
        name: 'Silent',
        description: 'Thinks long',
        version: '1',
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        capabilities: { streaming: true },
        defaultInputModes: [],
        defaultOutputModes: [],
        skills: [],
      });
    const { id, method, params } = JSON.parse(await text(request));
    if (method === 'GetTask') return void json({ jsonrpc: '2.0', id, result: task });
    if (method === 'ListTasks') return void json({ jsonrpc: '2.0', id, result: { tasks: [] } });
    isFollowed ||= method === 'SubscribeToTask' && messages.length > 1;
    if (params.message) {
      task.contextId = params.message.contextId;
      messages.push(params.message);
      task.history?.push(params.message);
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    const send = () =>
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { task } })}\n\n`);
    if (method !== 'SendStreamingMessage' || messages.length === 1) send();
    if (messages.length > 1) await ended.promise;
    if (messages.length > 1) send();
    response.end();
  }

  url = await listen((request, response) => void answer(request, response));
  return {
    url,
    messages,
    /** Whether a client follows the task since it was answered. */
    followed: () => isFollowed,
    /** Shows at last that it is done. */
    finish() {
      task.status = { state: 'TASK_STATE_COMPLETED' };
      ended.resolve();
    },
  };
}
