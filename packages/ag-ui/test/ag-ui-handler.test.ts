import { createServer } from 'node:http';
import { apiKey } from '@batonjs/auth';
import { completed, working } from '@batonjs/server';
import { testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { mounts } from '../../../test/kit/http/mounts.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { agUiHandler } from '../src/ag-ui-handler.ts';
import { frontEndOf } from '../src/index.ts';
import { linesOf, versions } from './clients.ts';

const agent = async function* ({ text, signal }: { text: string; signal: AbortSignal }) {
  yield working('Thinking');
  if (text === 'hold') await untilAborted(signal);
  yield completed('Done');
};

const input = (text: string, more: object = {}) => ({
  threadId: 'thread-1',
  runId: 'run-1',
  messages: [{ id: 'message-1', role: 'user', content: text }],
  ...more,
});

const post = (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });

describe('the handler of AG-UI', () => {
  it.each(mounts)('is mounted on %s as an agent is', async (_, mount) => {
    const url = await listen(createServer(await mount(agUiHandler(serve(agent)))));
    const [, open] = versions[1]!;
    const front = open(`${url}/agent`);
    front.say('Hello');
    await front.run();
    expect(linesOf(front)).toEqual(['user: Hello', 'assistant: Done']);
  });

  it('keeps a silent stream open as its server does', async () => {
    const clock = testClock();
    const handler = agUiHandler(serve(agent, { clock, streams: { heartbeatMs: 8_500 } }));
    const reader = (await handler.fetch(post(input('hold'))))
      .body!.pipeThrough(new TextDecoderStream())
      .getReader();
    const until = async (word: string) => {
      for (let read = await reader.read(); !read.value?.includes(word); read = await reader.read())
        if (read.done) expect.fail(`It ended without ${word}`);
    };
    await until('Thinking');
    const silence = until(': ping');
    await clock.advance(8_500);
    await silence;
    await reader.cancel();
  });

  it('separates callers, whom the server authenticates by the headers of their requests', async () => {
    const keys = new Map([
      ['key-of-ada', { scope: 'ada' }],
      ['key-of-bob', { scope: 'bob' }],
    ]);
    const handler = agUiHandler(serve(agent, { authenticate: apiKey({ header: 'X-API-Key', keys }) }));
    const run = async (key: string, body: object) =>
      (await handler.fetch(post(body, { 'x-api-key': key }))).text();
    expect((await handler.fetch(post(input('Hello')))).status).toBe(401);
    expect(await run('key-of-ada', input('Hello'))).toContain('Done');
    const nothing = { ...input(''), messages: [] };
    expect(await run('key-of-ada', nothing)).toContain('Hello');
    expect(await run('key-of-bob', nothing)).not.toContain('Hello');
  });

  it.each([
    ['declares so', { 'content-length': '100000' }],
    ['declares nothing', {}],
  ])('asks who calls before it reads more than 64 kB of a body that %s', async (_, headers) => {
    const keys = new Map([['key-of-ada', { scope: 'ada' }]]);
    const { handle } = agUiHandler(serve(agent, { authenticate: apiKey({ header: 'X-API-Key', keys }) }));
    let isRead = false;
    const answer = await handle({
      ...{ method: 'POST', path: '/', query: new URLSearchParams() },
      headers: { 'content-type': 'application/json', ...headers },
      signal: new AbortController().signal,
      async readBody(_limit, ask) {
        // As adapters do it, once 64 kB have come.
        await ask();
        isRead = true;
        return undefined;
      },
    });
    expect([answer.status, isRead]).toEqual([401, false]);
  });

  it('refuses what it cannot read, and says nothing of errors inside', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const broken = agUiHandler(
      () => {
        throw new Error('secret of the server');
      },
      { onError },
    );
    const failed = await broken.fetch(post(input('Hello')));
    expect(failed.status).toBe(500);
    expect(await failed.text()).not.toContain('secret');
    expect(errors).toHaveLength(1);
    const own = agUiHandler(serve(agent), { bodyBytes: 300, onError });
    const statusOf = async (request: Request) => (await own.fetch(request)).status;
    expect(await statusOf(post('{'))).toBe(400);
    expect(await statusOf(post({ ...input('x'), threadId: '' }))).toBe(400);
    expect(await statusOf(post({ ...input('x'), messages: [{}] }))).toBe(400);
    expect(await statusOf(post({ ...input('x'), messages: 'x' }))).toBe(400);
    expect(await statusOf(post(input('')))).toBe(400);
    expect(await statusOf(post(input('x', { resume: [{ interruptId: 1 }] })))).toBe(400);
    expect(await statusOf(post(input('x'.repeat(300))))).toBe(413);
    expect(await statusOf(post(input('x'), { 'content-type': 'text/plain' }))).toBe(415);
    expect(await statusOf(new Request('http://localhost/'))).toBe(405);
    expect(await statusOf(new Request('http://localhost/a/b', { method: 'DELETE' }))).toBe(404);
    expect(await statusOf(post(input('x'), { host: 'evil.example' }))).toBe(403);
    // The faults of callers are none of the server.
    expect(errors).toHaveLength(1);
    expect(() => agUiHandler(serve(agent), { bodyBytes: 1.5 })).toThrow(RangeError);
    expect(() => agUiHandler(serve(agent), { onErr: onError } as object)).toThrow('onError');
  });

  it.each(['handler', 'server'] as const)('ends its runs with an error when the %s closes', async (which) => {
    const server = serve(agent, { restart: 'rerun' });
    const handler = agUiHandler(server);
    const body = (await handler.fetch(post(input('hold')))).body!;
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('STEP_STARTED')) text += (await reader.read()).value;
    await (which === 'handler' ? handler.close() : server.close({ graceMs: 0 }));
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
    // What was begun has its end, so that the front end takes the error.
    expect(text.match(/STEP_\w+|RUN_ERROR/g)).toEqual(['STEP_STARTED', 'STEP_FINISHED', 'RUN_ERROR']);
    expect(text).toContain('UNAVAILABLE');
    if (which === 'handler') expect((await handler.fetch(post(input('x')))).status).toBe(503);
  });

  it('asks the agent for nothing more when the front end leaves', async () => {
    const server = serve(agent);
    const followed: Request[] = [];
    const handler = agUiHandler({
      handle: server.handle,
      fetch: (request) => {
        followed.push(request);
        return server.fetch(request);
      },
    });
    const left = new AbortController();
    const response = await handler.fetch(post(input('hold'), {}, left.signal));
    const reader = response.body!.getReader();
    await reader.read();
    left.abort();
    await eventually(() => expect(followed.at(-1)!.signal.aborted).toBe(true));
  });
});

describe('what a front end offers', () => {
  it('reaches the agent with the message, and nothing of another shape', async () => {
    const seen: unknown[] = [];
    const server = serve(async function* ({ message }) {
      seen.push(frontEndOf(message));
      yield completed();
    });
    const offer = {
      tools: [{ name: 'where', parameters: { type: 'object' } }, { name: 1 }, null],
      context: [{ description: 'Time', value: 'noon' }, { value: 1 }],
      state: { mine: 1 },
      forwardedProps: { theme: 'dark' },
    };
    await (await agUiHandler(server).fetch(post(input('Hello', offer)))).text();
    expect(seen).toEqual([
      {
        tools: [{ name: 'where', parameters: { type: 'object' } }],
        context: [{ description: 'Time', value: 'noon' }],
        state: { mine: 1 },
        forwardedProps: { theme: 'dark' },
      },
    ]);
    expect(frontEndOf({})).toBeUndefined();
  });
});
