import { expect, vi } from 'vitest';
import { exchange, type Sent } from './exchange.ts';
import type { Served } from './serve-http.ts';
import { type Known, said } from './wrong-sends.ts';

/** What a client sends with everything. */
export const usual = { 'content-type': 'application/json', 'a2a-version': '1.0' };

/** The text of a JSON-RPC request. */
export const rpcBody = (method: string, params?: unknown, more: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 'r', method, params, ...more });

/** The result of a call that succeeds. */
export async function call(
  origin: string,
  method: string,
  params: unknown,
  headers: Sent['headers'] = usual,
) {
  const body = rpcBody(method, params);
  const { json, text } = await exchange(origin, { method: 'POST', path: '/agent', headers, body });
  expect(json, text).toHaveProperty('result');
  return json.result;
}

/** Makes the tasks that the tables refer to. */
export async function prepare(served: Served, headers: Sent['headers'] = usual): Promise<Known> {
  const ask = (method: string, params: unknown) => call(served.origin, method, params, headers);
  const send = async (text: string, more: object = {}) =>
    (await ask('SendMessage', { message: said({ parts: [{ text }] }), ...more })).task;
  const completed = await send('hello');
  const failed = await send('fail');
  const asking = await send('ask');
  await ask('SendMessage', {
    message: said({ parts: [{ text: 'ask' }], contextId: asking.contextId }),
  });
  const canceled = await send('ask');
  await ask('CancelTask', { id: canceled.id });
  const holding = await send('hold', { configuration: { returnImmediately: true } });
  // It records that it is at work whenever it does; nothing may happen by itself while the tables run.
  await vi.waitFor(async () => {
    const { status } = await ask('GetTask', { id: holding.id });
    expect(status.state).toBe('TASK_STATE_WORKING');
  });
  const page = await ask('ListTasks', { contextId: asking.contextId, pageSize: 1 });
  expect(page.nextPageToken).not.toBe('');
  return {
    completed: completed.id,
    failed: failed.id,
    canceled: canceled.id,
    asking: asking.id,
    holding: holding.id,
    context: asking.contextId,
    pageToken: page.nextPageToken,
  };
}

/** Checks that `action` stores nothing and calls no agent, and that the server goes on. */
export async function leavesNoTrace(served: Served, action: () => Promise<void>): Promise<void> {
  const before = await served.stored();
  const { calls } = served;
  await action();
  expect(await served.stored()).toBe(before);
  expect(served.calls).toBe(calls);
}
