import type { AgentClient } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TaskStreams } from '../../src/http/task-streams.ts';
import { ClosedQuestions } from '../../src/tasks/input-requests.ts';
import { readTaskOptions } from '../../src/tasks/task-options.ts';

describe('the streams of all callers', () => {
  /** An agent that never answers: its streams stay open. */
  const silent = {
    card: { name: 'Silent', version: '' },
    getTask: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  } as unknown as AgentClient;

  const requests = {
    settings: readTaskOptions({}, 0),
    closedQuestions: new ClosedQuestions(),
    onError: () => {},
  };

  function opening() {
    const streams = new TaskStreams(requests);
    const checked = async () => new Response('', { headers: { 'content-type': 'text/event-stream' } });
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        _meta: {
          'io.modelcontextprotocol/clientCapabilities': {
            extensions: { 'io.modelcontextprotocol/tasks': {} },
          },
        },
        notifications: { taskIds: ['t'] },
      },
    };
    const open = (caller: string, signal = new AbortController().signal) =>
      streams.answer(
        new Request('http://localhost/mcp', { signal }),
        body,
        { caller, agent: silent },
        checked,
      );
    onTestFinished(() => streams.close());
    return { streams, open };
  }

  const limit = { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'Subscription limit reached' } };

  /** What a request is answered if it is no stream. */
  async function refusalOf(response: Response): Promise<unknown> {
    if (response.headers.get('content-type')?.startsWith('application/json'))
      return { status: response.status, ...(await response.json()) };
    await response.body?.cancel();
    return undefined;
  }

  it('are 1,024 at most, and 128 of one caller; those that are left make room', async () => {
    const { open } = opening();
    const gone = new AbortController();
    const opened = [await open('c0', gone.signal)];
    for (let n = 1; n < 128; n += 1) opened.push(await open('c0'));
    expect(await refusalOf(await open('c0'))).toEqual({ status: 200, ...limit });
    gone.abort();
    await expect.poll(async () => refusalOf(await open('c0'))).toBeUndefined();
    for (let n = 127; n < 1_024; n += 1) opened.push(await open(`c${Math.floor((n + 1) / 128)}`));
    expect(await refusalOf(await open('other'))).toEqual({ status: 200, ...limit });
    await opened.pop()?.body?.cancel();
    await expect.poll(async () => refusalOf(await open('other'))).toBeUndefined();
    for (const { body } of opened) await body?.cancel();
  });

  it('end with a result when the server closes, which names it also where its card has no version', async () => {
    const { streams, open } = opening();
    const response = await open('c');
    const [text] = await Promise.all([response.text(), streams.close()]);
    expect(JSON.parse(text.replace(/^event: message\ndata: /, ''))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        _meta: {
          'io.modelcontextprotocol/subscriptionId': 1,
          'io.modelcontextprotocol/serverInfo': { name: 'Silent', version: '0.0.0' },
        },
      },
    });
  });
});
