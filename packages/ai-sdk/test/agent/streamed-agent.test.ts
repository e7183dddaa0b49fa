import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { connect, dataOf, textOf } from '@batonjs/client';
import { type Agent, type Turn, taskAgent } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { type ToolSet, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../../test/kit/listen.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { AI_SDK, streamedAgent } from '../../src/index.ts';
import { agentOn, start } from '../served-agent.ts';

const call = { id: 'call-1', name: 'weather', input: { place: 'Oulu' } };

describe('a streamed agent', () => {
  it('gives the text of its model as chunks of one artifact, put together', async () => {
    const words = Array.from({ length: 50 }, (_, n) => `word ${n} `);
    const { client } = await start(() => ({ text: words }));
    const chunks: string[] = [];
    const stream = client.stream('hello');
    for await (const { artifactUpdate } of stream)
      if (artifactUpdate) chunks.push(textOf(artifactUpdate.artifact));
    expect(chunks.join('')).toBe(words.join(''));
    expect(chunks.length).toBeLessThan(20);
    expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(stream.task?.artifacts).toHaveLength(1);
  });

  it('says how many tokens its answer used, also to clients that poll', async () => {
    const { client } = await start((_, n) => (n === 1 ? { calls: [call] } : { text: ['7 degrees'] }));
    const { task } = await client.send('Oulu?');
    expect(task?.artifacts?.[0]?.metadata?.[AI_SDK]).toEqual({
      usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
    });
  });

  it('runs tools and shows which, but not what they are given, unless it is asked to', async () => {
    const { client, models } = await start((_, n) => (n === 1 ? { calls: [call] } : { text: ['7 degrees'] }));
    const { task } = await client.send('Oulu?');
    expect(textOf(task?.artifacts?.[0])).toBe('7 degrees');
    expect(models.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'call-1' });
    const told = task!.history!.filter(({ role }) => role === 'ROLE_AGENT');
    expect(told.map(textOf)).toEqual(['Calls weather']);
    expect(JSON.stringify(told)).not.toMatch('Oulu');
    expect(dataOf(told[0])).toEqual({ toolCallId: 'call-1', toolName: 'weather', state: 'called' });
  });

  it('shows inputs and results of tools as data where it is asked to', async () => {
    const { client } = await start((_, n) => (n === 1 ? { calls: [call] } : { text: ['7 degrees'] }), {
      shownTools: 'data',
    });
    const { task } = await client.send('Oulu?');
    expect(task!.history!.slice(1).map(dataOf)).toMatchObject([
      { state: 'called', input: { place: 'Oulu' } },
      { state: 'done', output: { degrees: 7 } },
    ]);
  });

  it('keeps the reasoning of its model to itself, unless it is asked to show it', async () => {
    const answer = () => ({ reasoning: 'Because of this', text: ['Yes'] });
    const { client } = await start(answer);
    expect(JSON.stringify(await client.send('hello'))).not.toMatch('Because');
    const { client: shown } = await start(answer, { showReasoning: true });
    const { task } = await shown.send('hello');
    expect(task?.artifacts?.map((artifact) => [artifact.name, textOf(artifact)])).toEqual([
      ['reasoning', 'Because of this'],
      ['answer', 'Yes'],
    ]);
  });

  it('tells the texts of two steps apart', async () => {
    const { client } = await start((_, n) =>
      n === 1 ? { text: ['Let me look.'], calls: [call] } : { text: ['7 degrees'] },
    );
    const { task } = await client.send('Oulu?');
    expect(textOf(task?.artifacts?.[0])).toBe('Let me look.\n\n7 degrees');
  });
});

describe('a model gets', () => {
  const say = () => ({ text: ['Yes'] });

  it('the completed tasks of the context, unless the agent remembers its task only', async () => {
    for (const memory of ['context', 'task'] as const) {
      const { client, models } = await start(say, { memory });
      const { task } = await client.send('one');
      await client.send('two', { contextId: task!.contextId! });
      const said = models.requests[1]!.messages.map(({ role, content }) => [role, content]);
      const before = [
        ['user', 'one'],
        ['assistant', 'Yes'],
      ];
      expect(said).toEqual([...(memory === 'context' ? before : []), ['user', 'two']]);
    }
  });

  it('files by their bytes, and data as JSON', async () => {
    const { client, models } = await start(say);
    const file = { raw: 'aGVsbG8=', mediaType: 'image/png', filename: 'a.png' };
    await client.send([{ text: 'Look' }, { data: { a: 1 } }, file]);
    expect(models.requests[0]!.messages[0]!.content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'text', text: '{"a":1}' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
    ]);
  });

  it('files of a URL, unless it leads into this network', async () => {
    const fetched: (string | undefined)[] = [];
    const origin = await listen((request, response) => {
      fetched.push(request.url);
      response.writeHead(200, { 'Content-Type': 'image/png' }).end('hello');
    });
    const message = [{ text: 'Look' }, { url: `${origin}/b.png`, mediaType: 'image/png' }];
    const { client: strict } = await start(say);
    const { task } = await strict.send(message);
    expect(dataOf(task?.status.message)).toMatchObject({ code: 'INVALID_PARAMS', retryable: false });
    expect(fetched).toEqual([]);
    const { client, models } = await start(say, { files: { allow: ['127.0.0.1:*'] } });
    await client.send(message);
    const url = 'data:image/png;base64,aGVsbG8=';
    expect(models.requests[0]!.messages[0]!.content).toContainEqual({
      type: 'image_url',
      image_url: { url },
    });
  });
});

describe('a task fails, and reveals nothing of why, when the model', () => {
  it.each([
    ['answers with an error', { status: 500, body: '{"error":{"message":"secret"}}' }, 'MODEL_FAILED', true],
    ['refuses the request', { status: 401, body: '{"error":{"message":"secret"}}' }, 'MODEL_FAILED', false],
    ['breaks off its answer', { text: ['Half secret'], finish: undefined }, 'MODEL_FAILED', true],
    ['gives no text', { text: [] }, 'MODEL_FAILED', true],
    ['reaches its length', { text: ['Half'], finish: 'length' }, 'MODEL_LENGTH', undefined],
    ['filters its answer', { text: ['Half'], finish: 'content_filter' }, 'MODEL_FILTERED', undefined],
    ['only calls tools', { calls: [call] }, 'MODEL_STEPS', undefined],
  ])('%s', async (_how, answer, code, retryable) => {
    const errors: unknown[] = [];
    const { client } = await start(
      (_, n) => ('calls' in answer ? { calls: [{ ...call, id: `c${n}` }] } : answer),
      {
        onError: (error) => errors.push(error),
      },
    );
    const { task } = await client.send('hello');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(dataOf(task?.status.message)).toMatchObject({
      code,
      ...(retryable !== undefined && { retryable }),
    });
    expect(JSON.stringify(task?.status)).not.toMatch('secret');
    if ('status' in answer) expect(String(errors[0])).toMatch('secret');
  });

  it('fails in a tool, which the model is told and the client is not', async () => {
    const { client, models } = await start(
      (_, n) => (n === 1 ? { calls: [{ ...call, name: 'broken' }] } : { text: ['Sorry'] }),
      { shownTools: 'data' },
    );
    const { task } = await client.send('hello');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(models.requests[1]!.messages.at(-1)!.content).toMatch('secret of the tool');
    expect(JSON.stringify(task)).not.toMatch('secret');
  });
});

/** A model whose stream a test writes, and an agent on it with tools. */
function mocked(
  write: (controller: Controller, signal: AbortSignal | undefined) => void,
  tools: ToolSet = {},
) {
  const model = new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => ({
      stream: new ReadableStream({ start: (controller) => write(controller, abortSignal) }),
    }),
  });
  return agentOn(model, tools);
}

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>;

const say = (controller: Controller, delta: string) => {
  controller.enqueue({ type: 'text-start', id: '1' });
  controller.enqueue({ type: 'text-delta', id: '1', delta });
};

const end = (controller: Controller, unified: 'stop' | 'tool-calls' = 'stop') => {
  controller.enqueue({ type: 'finish', finishReason: { unified, raw: undefined }, usage });
  controller.close();
};

const toolCall = { type: 'tool-call', toolCallId: 'call-1', toolName: 'run', input: '{}' } as const;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

describe('a tool does not run for an answer', () => {
  const runs: string[] = [];
  const run = tool({ inputSchema: z.object({}), execute: async () => runs.push('run') });

  it('that breaks off', async () => {
    const { client, visits } = await start(() => ({ calls: [{ ...call, name: 'note' }], finish: undefined }));
    const { task } = await client.send('hello');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(visits).toEqual([]);
  });

  it('that cannot be recorded', async () => {
    const agent = mocked(
      (controller) => {
        controller.enqueue(toolCall);
        end(controller, 'tool-calls');
      },
      { run },
    );
    // The task was given to another process while the model answered.
    const step: Turn['step'] = async (_name: string, fn: unknown) => {
      await (fn as () => unknown)();
      throw new Error('Fenced');
    };
    const fenced = taskAgent((turn) => agent(Object.create(turn, { step: { value: step } })));
    const { updates } = await runTurn(fenced, 'hello');
    expect(updates.at(-1)).toMatchObject({ status: { state: 'TASK_STATE_FAILED' } });
    expect(runs).toEqual([]);
  });
});

it('a turn that runs out of time does not complete with half an answer', async () => {
  const late = new AbortController();
  const agent = mocked((controller) => {
    say(controller, 'Half');
    late.abort(Object.assign(new Error('Late'), { code: 'DEADLINE' }));
    end(controller);
  });
  await expect(runTurn(agent as Agent, 'hello', { signal: late.signal })).rejects.toThrow('Late');
});

describe('a cancel', () => {
  it('aborts the request of the model, and the task is CANCELED', async () => {
    const { client, models } = await start(() => ({ hang: 'Half an answer' }));
    const stream = client.stream('hello');
    for await (const { artifactUpdate } of stream)
      if (artifactUpdate) await client.cancelTask({ id: stream.task!.id });
    expect(stream.task?.status.state).toBe('TASK_STATE_CANCELED');
    await models.left;
  });

  it.each<[string, (controller: Controller) => void]>([
    ['stops early', (controller) => controller.close()],
    ['throws', (controller) => controller.error(new DOMException('Aborted', 'AbortError'))],
    ['says that it is done', end],
    ['does not heed it', () => {}],
  ])('makes the task CANCELED where the model %s, with what it said before', async (_what, stop) => {
    const agent = mocked((controller, signal) => {
      say(controller, 'Half an answer');
      signal?.addEventListener('abort', () => stop(controller));
    }) as Agent;
    const server = serve(agent, { timeouts: { cancelGraceMs: 60_000 } });
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    const stream = client.stream('hello');
    for await (const { artifactUpdate } of stream)
      if (artifactUpdate) await client.cancelTask({ id: stream.task!.id });
    expect(stream.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(textOf(stream.task?.artifacts?.[0])).toBe('Half an answer');
  });

  it('does not wait for a stream that does not heed it', async () => {
    const began = Promise.withResolvers<void>();
    const stream = {
      [Symbol.asyncIterator]: () => ({
        next() {
          began.resolve();
          return new Promise<never>(() => {});
        },
      }),
    };
    const server = serve(streamedAgent(() => ({ stream })) as Agent, {
      timeouts: { cancelGraceMs: 600_000 },
    });
    const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    const { task } = await client.send('hello', { returnImmediately: true });
    await began.promise;
    expect((await client.cancelTask({ id: task!.id })).status.state).toBe('TASK_STATE_CANCELED');
  });
});
