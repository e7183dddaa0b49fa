import type { Served } from './served.ts';
import type { Known } from './valid-request.ts';

const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
let messages = 0;

/** Makes tasks that requests can be about. Rejects if the server does not do what it is asked. */
export async function knownOf({ port, webhook, forbiddenPort }: Served): Promise<Known> {
  // biome-ignore lint/suspicious/noExplicitAny: a missing member is noticed at once
  async function call(method: string, params: object): Promise<any> {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(30_000),
    });
    const body = (await response.json()) as { result?: unknown };
    if (!body.result) throw new Error(`A good request was answered with ${JSON.stringify(body)}`);
    return body.result;
  }
  const say = async (text: string, more: object = {}) => {
    const message = {
      messageId: `known-${process.pid}-${messages++}`,
      role: 'ROLE_USER',
      parts: [{ text }],
      ...more,
    };
    const configuration = { returnImmediately: text === 'hold' };
    return (await call('SendMessage', { message, configuration })).task;
  };
  const asking = await say('ask');
  const { contextId } = asking;
  const completed = await say('hello', { contextId });
  const holding = await say('hold');
  // One that takes no more messages, and one with much in it: both are larger than a reply may be.
  const growing = await say('hold', { contextId });
  const grow = (length: number) =>
    say('hold', { taskId: growing.id, parts: [{ text: 'hold' }, { text: 'x'.repeat(length) }] });
  for (const length of [30_000, 1]) while (await grow(length).then(() => true, wasLast));
  const large = await say('hello', { contextId, parts: [{ text: 'x'.repeat(100_000) }] });
  const config = await call('CreateTaskPushNotificationConfig', { taskId: asking.id, url: webhook });
  const page = await call('ListTasks', { contextId, pageSize: 1 });
  return {
    tasks: [asking.id, completed.id, holding.id, growing.id, large.id],
    forbiddenPort,
    contextId,
    pageToken: page.nextPageToken,
    webhook: { taskId: asking.id, id: config.id, url: webhook },
  };
}

/**
 * False for the refusal of a task that takes no more, because it is full, or because its time was over before it was, on
 * a busy machine; rejects with anything else.
 */
function wasLast(error: unknown): false {
  if (/RESOURCE_EXHAUSTED|is finished/.test(String(error))) return false;
  throw error;
}
