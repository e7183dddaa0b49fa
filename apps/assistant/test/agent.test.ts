import { connect, textOf } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { runTurn } from '@batonjs/testing';
import { APICallError } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveModel } from '../../../packages/ai-sdk/test/openai-server.ts';
import { assistant, card, modelFrom, retry } from '../src/index.ts';

type Chunk =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer C> ? C : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};
const finish = (unified: 'stop' | 'error' | 'length' | 'content-filter'): Chunk => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage,
});
const said = (delta: string): Chunk[] => [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta },
];

/** A model whose stream consists of these chunks. */
const modelOf = (...chunks: readonly Chunk[]) =>
  new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [...chunks], chunkDelayInMs: null }) }),
  });

it('completes with the whole answer of its model', async () => {
  const { updates } = await runTurn(assistant(modelOf(...said('Hello'), finish('stop'))), 'hello');
  expect(updates.at(-1)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
});

it('takes a model from any server that speaks the API of OpenAI', async () => {
  await using models = await serveModel(() => ({ text: ['Hello'] }));
  const model = modelFrom({ ASSISTANT_URL: models.url, ASSISTANT_MODEL: 'local' });
  const { updates } = await runTurn(assistant(model), 'hello');
  expect(updates).toContainEqual(
    expect.objectContaining({ artifact: expect.objectContaining({ name: 'answer' }) }),
  );
  expect(models.requests[0]?.messages.at(-1)).toEqual({ role: 'user', content: 'hello' });
});

describe('fails when its model does, and reveals nothing of why:', () => {
  const refusing = new MockLanguageModelV4({ doStream: () => Promise.reject(new Error('secret key')) });
  it.each([
    ['it throws', refusing, 'MODEL_FAILED'],
    [
      'its stream has an error in it',
      modelOf(...said('Half'), { type: 'error', error: new Error('secret') }),
      'MODEL_FAILED',
    ],
    ['it ends without any text', modelOf(finish('stop')), 'MODEL_FAILED'],
    ['it ends without anything', modelOf(), 'MODEL_FAILED'],
    ['it ends early without saying why', modelOf(...said('Half')), 'MODEL_FAILED'],
    ['it gives an error as its end', modelOf(...said('Half'), finish('error')), 'MODEL_FAILED'],
    ['it reaches its length', modelOf(...said('Half'), finish('length')), 'MODEL_LENGTH'],
    ['it is filtered', modelOf(finish('content-filter')), 'MODEL_FILTERED'],
  ])('%s', async (_why, model, code) => {
    const { updates } = await runTurn(assistant(model), 'hello');
    expect(updates.at(-1)).toMatchObject({
      status: { state: 'TASK_STATE_FAILED', message: { parts: [{}, { data: { code } }] } },
    });
    expect(JSON.stringify(updates)).not.toMatch('secret');
  });
});

/** A model that gives these streams in turn, or throws, and counts its calls. */
const modelInTurn = (...answers: readonly (readonly Chunk[] | Error)[]) => {
  const model = new MockLanguageModelV4({
    doStream: async () => {
      const answer = answers[model.doStreamCalls.length - 1];
      if (!answer || answer instanceof Error) throw answer;
      return { stream: simulateReadableStream({ chunks: [...answer], chunkDelayInMs: null }) };
    },
  });
  return model;
};

const httpError = (statusCode: number) =>
  new APICallError({
    message: 'secret',
    url: 'http://127.0.0.1',
    requestBodyValues: {},
    statusCode,
    responseHeaders: { 'retry-after-ms': '1' },
  });

it.each([
  ['answers 429', httpError(429)],
  ['breaks off in the middle', [...said('Half'), { type: 'error', error: httpError(503) }] as Chunk[]],
])('asks its model again that %s, and completes with the whole answer', async (_what, first) => {
  const model = modelInTurn(first, httpError(429), [...said('Hello'), finish('stop')]);
  const agent = await connectTo(model);
  const { task } = await agent.send('hello');
  expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(task?.artifacts?.map(textOf)).toEqual(['Hello']);
  expect(model.doStreamCalls).toHaveLength(3);
  expect(JSON.stringify(task)).not.toMatch('secret');
});

it('fails at once when its model refuses its key', async () => {
  const model = modelInTurn(httpError(401), [...said('Hello'), finish('stop')]);
  const { task } = await (await connectTo(model)).send('hello');
  expect(task?.status).toMatchObject({
    state: 'TASK_STATE_FAILED',
    message: { parts: [{}, { data: { code: 'MODEL_FAILED', retryable: false } }] },
  });
  expect(model.doStreamCalls).toHaveLength(1);
});

async function connectTo(model: MockLanguageModelV4) {
  const store = sqliteStore(':memory:');
  const server = createAgentServer({
    name: 'assistant',
    card,
    agent: assistant(model),
    store,
    restart: 'rerun',
    retry,
  });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(() => close().then(() => store.close()));
  return connect(url);
}

describe('ends as CANCELED when it is canceled in the middle of its answer, where the model', () => {
  it.each([
    ['stops early', (controller: ReadableStreamDefaultController<Chunk>) => controller.close()],
    [
      'throws',
      (controller: ReadableStreamDefaultController<Chunk>) =>
        controller.error(new DOMException('Aborted', 'AbortError')),
    ],
    [
      'says that it is done',
      (controller: ReadableStreamDefaultController<Chunk>) => {
        controller.enqueue(finish('stop'));
        controller.close();
      },
    ],
    ['does not heed it', () => {}],
  ])('%s', async (_what, stop) => {
    const model = new MockLanguageModelV4({
      doStream: async ({ abortSignal }) => ({
        stream: new ReadableStream<Chunk>({
          start(controller) {
            for (const chunk of said('Half an answer')) controller.enqueue(chunk);
            abortSignal?.addEventListener('abort', () => stop(controller));
          },
        }),
      }),
    });
    const store = sqliteStore(':memory:');
    const server = createAgentServer({ name: 'assistant', card, agent: assistant(model), store });
    const { url, close } = await listen(server, { port: 0 });
    onTestFinished(() => close().then(() => store.close()));
    const agent = await connect(url);
    const stream = agent.stream('hello');
    for await (const { artifactUpdate } of stream) {
      if (artifactUpdate)
        expect((await agent.cancelTask({ id: stream.task!.id })).status.state).toBe('TASK_STATE_CANCELED');
    }
    expect(stream.task?.status.state).toBe('TASK_STATE_CANCELED');
    expect(textOf(stream.task?.artifacts?.[0])).toBe('Half an answer');
  });
});
