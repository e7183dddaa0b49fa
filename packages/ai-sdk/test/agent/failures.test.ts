import { connect, dataOf } from '@batonjs/client';
import { createGateway, LoadAPIKeyError, NoSuchModelError, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type ModelTurn, streamedAgent } from '../../src/index.ts';

type Model = Parameters<ModelTurn['model']>[0];

/** A model of the AI SDK's gateway, which answers every request with this error. */
async function refused(status: number, type: string): Promise<Model> {
  const url = await listen((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'secret', type } }));
  });
  return createGateway({ apiKey: 'wrong', baseURL: url })('openai/gpt-5-mini');
}

const failing = (error: Error): Model =>
  new MockLanguageModelV4({
    doStream: async () => {
      throw error;
    },
  });

it.each<[string, () => Model | Promise<Model>, boolean]>([
  ['the gateway that refuses the key', () => refused(401, 'authentication_error'), false],
  ['the gateway that does not know the model', () => refused(404, 'model_not_found'), false],
  ['the gateway that is overloaded', () => refused(503, 'internal_server_error'), true],
  ['a provider without a key', () => failing(new LoadAPIKeyError({ message: 'secret' })), false],
  [
    'a provider without the model',
    () => failing(new NoSuchModelError({ modelId: 'secret', modelType: 'languageModel' })),
    false,
  ],
  ['a network that broke', () => failing(new TypeError('fetch failed')), true],
])('a task that failed because of %s says whether to try again', async (_what, modelOf, retryable) => {
  const found = await modelOf();
  const errors: unknown[] = [];
  const agent = streamedAgent(
    ({ messages, signal, model }) =>
      streamText({ model: model(found), messages, abortSignal: signal, maxRetries: 0, onError() {} }),
    { onError: (error) => errors.push(error) },
  );
  const client = await connect('http://localhost', { fetch: serve(agent).fetch });
  const { task } = await client.send('hello');
  expect(dataOf(task?.status.message)).toEqual({
    code: 'MODEL_FAILED',
    message: 'The language model failed',
    retryable,
  });
  expect(errors).toHaveLength(1);
});

it('an answer that breaks off completes no task', async () => {
  const errors: unknown[] = [];
  const broken = new Error('secret');
  async function* parts() {
    yield { type: 'text-start', id: 'text' } as const;
    yield { type: 'text-delta', id: 'text', text: 'Half' } as const;
    yield { type: 'finish', finishReason: 'stop', totalUsage: {} } as never;
    throw broken;
  }
  const agent = streamedAgent(() => ({ stream: parts() }), { onError: (error) => errors.push(error) });
  const client = await connect('http://localhost', { fetch: serve(agent).fetch });
  const { task } = await client.send('hello');
  expect(task?.status.state).toBe('TASK_STATE_FAILED');
  expect(errors).toEqual([broken]);
});

it('an answer of empty pieces completes no task', async () => {
  async function* parts() {
    yield { type: 'text-start', id: 'text' } as const;
    yield { type: 'text-delta', id: 'text', text: '' } as const;
    yield { type: 'text-end', id: 'text' } as const;
    yield { type: 'finish', finishReason: 'stop', totalUsage: {} } as never;
  }
  const agent = streamedAgent(() => ({ stream: parts() }), { onError() {} });
  const client = await connect('http://localhost', { fetch: serve(agent).fetch });
  const { task } = await client.send('hello');
  expect(task?.status.state).toBe('TASK_STATE_FAILED');
});
