import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { runTurn } from '@batonjs/testing';
import { APICallError, streamText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type StreamedAgentOptions, streamedAgent } from '../../src/index.ts';
import { type ModelAnswer, modelAt, serveModel } from '../openai-server.ts';
import { scriptedModel, text } from '../scripted-model.ts';
import { agentOn } from '../served-agent.ts';

const card = { name: 'Test', description: 'Answers' };
const whole = expect.toSatisfy((ms: number) => Number.isInteger(ms) && ms >= 0);
/** A call of the model of `openai-server`. */
const modelCall = {
  provider: 'local.chat',
  modelId: 'local',
  ms: whole,
  firstMs: whole,
  usage: expect.objectContaining({ input: 10, output: 5 }),
};

/** An agent with a tool, on a model over HTTP whose answers these are, and the steps that its task keeps. */
async function ask(
  answers: readonly ModelAnswer[],
  options: StreamedAgentOptions = {},
  tokensPerTask = Number.POSITIVE_INFINITY,
) {
  const models = await serveModel((_, number) => answers[number - 1] ?? { status: 500, body: '{}' });
  onTestFinished(() => models[Symbol.asyncDispose]());
  const weather = tool({
    inputSchema: z.object({ place: z.string() }),
    execute: async ({ place }) => {
      if (place === 'Nowhere') throw new Error('Unknown');
      return { degrees: 7 };
    },
  });
  const store = memoryStore();
  const server = serve(
    streamedAgent(
      ({ messages, signal, model, tools }) =>
        streamText({
          model: model(modelAt(models.url)),
          instructions: 'Be brief',
          messages,
          abortSignal: signal,
          tools: tools({ weather }),
          stopWhen: ({ steps }) => steps.length === 3,
          maxRetries: 0,
          onError() {},
        }),
      options,
    ),
    { card, store, limits: { tokensPerTask } },
  );
  const { task } = await rpc(server, 'SendMessage', { message: say('Oulu?') });
  const facts = await store.readFacts(scope, task.id, 0, 100);
  const steps = facts.flatMap(({ fact }) =>
    fact.type === 'step-completed' ? [[fact.name, fact.result as Record<string, unknown>] as const] : [],
  );
  const usages = facts.flatMap(({ fact }) =>
    fact.type === 'step-completed' && fact.usage ? [fact.usage] : [],
  );
  return { task, steps, usages, calls: steps.map(([, { modelCall, toolCall }]) => modelCall ?? toolCall) };
}

const calling = (place: string): ModelAnswer => ({ calls: [{ id: 'c', name: 'weather', input: { place } }] });

it('each call of a model counts towards the tokens of its task, which ends before the next call', async () => {
  const answers = [calling('Oulu'), { text: ['Cold'] }];
  const usage = expect.objectContaining({ model: 'local', calls: 1, inputTokens: 10, outputTokens: 5 });
  const free = await ask(answers);
  expect(free.usages).toEqual([usage, usage]);
  const { task, usages } = await ask(answers, {}, 15);
  expect(task.status.state).toBe('TASK_STATE_FAILED');
  expect(JSON.stringify(task.status)).toContain('RESOURCE_EXHAUSTED');
  expect(usages).toEqual([usage]);
});

it('each call is recorded with its cost, where its model has a price', async () => {
  const answers = [calling('Oulu'), { text: ['Cold'] }];
  const prices = (model: string) => ({ currency: 'EUR', models: { [model]: { input: 0.5, output: 2 } } });
  // 10 tokens read and 5 written.
  const cost = { cost: 0.000015, currency: 'EUR' };
  const priced = await ask(answers, { prices: prices('local/local') });
  expect(priced.usages).toMatchObject([cost, cost]);
  const [unpriced] = (await ask(answers, { prices: prices('other') })).usages;
  expect(unpriced).toMatchObject({ inputTokens: 10 });
  expect(unpriced).not.toHaveProperty('cost');
  expect(() => agentOn(scriptedModel(), {}, { prices: { currency: '$', models: {} } })).toThrow(
    new TypeError('`prices.currency` must be a code of ISO 4217, such as "USD"'),
  );
});

describe('beside the recorded answers of models and tools', () => {
  it('stand who was called, for how long, and with how many tokens', async () => {
    const { task, steps, calls } = await ask([
      { ...calling('Oulu'), reasoning: 'Hm' } as ModelAnswer,
      { text: ['Cold'] },
    ]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(steps.map(([name]) => name)).toEqual(['model 1', 'tool c', 'model 2']);
    expect(calls).toStrictEqual([
      { ...modelCall, finishReason: 'tool-calls' },
      { name: 'weather', ms: whole },
      { ...modelCall, finishReason: 'stop' },
    ]);
  });

  it('stands that a tool failed', async () => {
    const { steps } = await ask([calling('Nowhere'), { text: ['No idea'] }]);
    expect(steps[1]![1]).toStrictEqual({ error: 'Unknown', toolCall: { name: 'weather', ms: whole } });
  });

  it('stand the tries of a call that failed before in the same attempt', async () => {
    const busy = new APICallError({
      message: 'secret',
      url: 'http://127.0.0.1',
      requestBodyValues: {},
      statusCode: 503,
      responseHeaders: { 'retry-after-ms': '1' },
    });
    const answering = scriptedModel(text('Cold'));
    let tries = 0;
    const model = new MockLanguageModelV4({
      provider: 'maker',
      modelId: 'small',
      doStream(options) {
        tries += 1;
        return tries < 3 ? Promise.reject(busy) : answering.doStream(options);
      },
    });
    const agent = streamedAgent(({ messages, signal, ...turn }) =>
      streamText({ model: turn.model(model), messages, abortSignal: signal, onError() {} }),
    );
    const { steps } = await runTurn(agent, 'Oulu?');
    const failed = { ms: whole, status: 503 };
    expect(steps).toMatchObject({
      'model 1': { modelCall: { provider: 'maker', modelId: 'small', failed: [failed, failed] } },
    });
    expect(JSON.stringify(steps)).not.toContain('secret');
  });

  it('stands no prompt, unless the agent keeps prompts', async () => {
    const { calls } = await ask([{ text: ['Cold'] }]);
    expect(JSON.stringify(calls)).not.toMatch(/Be brief|Oulu/);
    const kept = await ask([calling('Oulu'), { text: ['Cold'] }], { keepPrompts: true });
    expect(kept.calls).toMatchObject([
      {
        prompt: {
          messages: [
            { role: 'system', text: 'Be brief' },
            { role: 'user', text: 'Oulu?' },
          ],
        },
      },
      { name: 'weather' },
      {
        prompt: {
          messages: [
            {},
            {},
            { role: 'assistant', text: '[weather] {"place":"Oulu"}' },
            { role: 'tool', text: '[weather] {"degrees":7}' },
          ],
        },
      },
    ]);
    expect(JSON.stringify(kept.task)).not.toContain('Be brief');
    const cut = await ask([{ text: ['Cold'] }], { keepPrompts: { bytes: 10 } });
    expect(cut.calls).toMatchObject([
      {
        prompt: {
          messages: [
            { role: 'system', text: 'Be brief' },
            { role: 'user', text: 'Ou' },
          ],
          isCut: true,
        },
      },
    ]);
  });

  it.each([0, 262_145, 1.5, Number.NaN])('cannot stand prompts of %d bytes', (bytes) => {
    expect(() => agentOn(scriptedModel(), {}, { keepPrompts: { bytes } })).toThrow(
      new RangeError(`\`keepPrompts.bytes\` must be a whole number from 1 to 262144, not ${bytes}`),
    );
  });

  it.each([1, 262_144, true, false])('may stand prompts of %s', (kept) => {
    const keepPrompts = typeof kept === 'number' ? { bytes: kept } : kept;
    expect(agentOn(scriptedModel(), {}, { keepPrompts })).toBeTypeOf('function');
  });
});

describe('a server that closes in the middle of a call', () => {
  it('counts the call once, by the process that took the task over', async () => {
    const asked = Promise.withResolvers<void>();
    let isFirst = true;
    const answering = scriptedModel([...text('Hello')], [...text('Hello')]);
    const model = new MockLanguageModelV4({
      doStream: async (options) => {
        if (!isFirst) return answering.doStream(options);
        isFirst = false;
        const { stream } = await scriptedModel([...text('Hel'), 'hang']).doStream(options);
        asked.resolve();
        return { stream };
      },
    });
    const store = memoryStore();
    const options = { card, store, restart: 'rerun', logger: () => {} } as const;
    const first = createAgentServer({ ...options, agent: agentOn(model) });
    const configuration = { returnImmediately: true };
    const { task } = await rpc(first, 'SendMessage', { message: say('Hi'), configuration });
    await asked.promise;
    await first.close({ graceMs: 0 });
    const second = serve(agentOn(model), options);
    await until(second, task.id, 'COMPLETED');
    const facts = (await store.readFacts(scope, task.id, 0, 100)).map(({ fact }) => fact);
    const about = facts.flatMap((fact) =>
      fact.type === 'turn-started'
        ? [`attempt ${fact.attempt}`]
        : fact.type === 'step-completed'
          ? [fact.name, (fact.result as { modelCall: { usage: unknown } }).modelCall.usage]
          : fact.type === 'step-failed'
            ? ['failed']
            : [],
    );
    expect(about).toEqual(['attempt 1', 'attempt 2', 'model 1', { input: 1, output: 1 }]);
  });
});
