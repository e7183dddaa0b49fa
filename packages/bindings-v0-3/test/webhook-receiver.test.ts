import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebhookReceiverOptions, webhookReceiver } from '@batonjs/client/webhook-receiver';
import { completed, taskAgent, working } from '@batonjs/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { v03Client } from '../src/index.ts';
import { ask, say, serve } from './serve.ts';

const token = 'agreed';

function receiverOf(options: Partial<WebhookReceiverOptions> = {}) {
  const events: object[] = [];
  const receiver = webhookReceiver({
    token,
    expects: () => true,
    onEvent: (event) => void events.push(event),
    compatibility: [v03Client()],
    ...options,
  });
  const deliver = (body: unknown) =>
    receiver.fetch(
      new Request('http://localhost/hook', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-a2a-notification-token': token },
        body: JSON.stringify(body),
      }),
    );
  return { receiver, events, deliver };
}

const task = { id: 't', contextId: 'c', status: { state: 'completed' } };
const status = { taskId: 't', contextId: 'c', status: { state: 'input-required' }, final: true };
const part = { kind: 'text', text: 'hi' };

describe('a webhook receiver that knows 0.3', () => {
  it.each<[what: string, older: object, newer: object]>([
    ['a task', { kind: 'task', ...task }, { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' } } }],
    ['a task without `kind`', task, { task: { id: 't', status: { state: 'TASK_STATE_COMPLETED' } } }],
    [
      'a status',
      { kind: 'status-update', ...status },
      { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_INPUT_REQUIRED' } } },
    ],
    [
      'an artifact',
      { kind: 'artifact-update', taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [part] } },
      { artifactUpdate: { taskId: 't', artifact: { artifactId: 'a', parts: [{ text: 'hi' }] } } },
    ],
    [
      'a message',
      { kind: 'message', messageId: 'm', role: 'agent', taskId: 't', parts: [part] },
      { message: { messageId: 'm', role: 'ROLE_AGENT', taskId: 't', parts: [{ text: 'hi' }] } },
    ],
    [
      'an update of 1.0',
      { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_FAILED' } } },
      { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_FAILED' } } },
    ],
  ])('hands over %s in the words of 1.0 [R-V03-15]', async (_, older, newer) => {
    const { events, deliver } = receiverOf();
    expect((await deliver(older)).status).toBe(200);
    expect(events).toMatchObject([newer]);
    expect(Object.keys(events[0]!)).toEqual(Object.keys(newer));
  });

  it.each([
    ['nothing', null],
    ['a list', [task]],
    ['an event without a task', { kind: 'status-update', status: { state: 'working' } }],
    ['another kind', { kind: 'joke', taskId: 't' }],
  ])('refuses %s', async (_, body) => {
    const { events, deliver } = receiverOf();
    expect((await deliver(body)).status).toBe(400);
    expect(events).toEqual([]);
  });

  it('is one with the option for it', async () => {
    const { deliver } = receiverOf({ compatibility: [] });
    expect((await deliver({ kind: 'task', ...task })).status).toBe(400);
  });

  it('gets what a client of 0.3 registered for', async () => {
    const { receiver, events } = receiverOf();
    const http = createServer(receiver.handle);
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      http.close().closeAllConnections();
    });
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
    const server = serve({
      agent: taskAgent(async function* () {
        yield working();
        yield completed();
      }),
      push: { allow: ['127.0.0.1:*'] },
    });
    const configuration = { pushNotificationConfig: { url, token } };
    const { result } = await ask(server, 'message/send', { message: say('go'), configuration });
    await vi.waitFor(() =>
      expect(events.at(-1)).toMatchObject({
        statusUpdate: { taskId: result.id, status: { state: 'TASK_STATE_COMPLETED' } },
      }),
    );
  });
});
