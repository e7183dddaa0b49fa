import type { Agent } from '@batonjs/server';
import { z } from 'zod';
import { streamOf } from '../../ai-sdk/src/stream-of.ts';
import { call, reasoning, text } from '../../ai-sdk/test/scripted-model.ts';
import { agentOn } from '../../ai-sdk/test/served-agent.ts';

/** What the instructions of the model say: no client ever gets it. */
export const instructions = 'You bake bread. The secret is rye.';

const usage = (total: number, cacheRead: number, output: number, reasoning: number) => ({
  inputTokens: { total, noCache: total - cacheRead, cacheRead, cacheWrite: 0 },
  outputTokens: { total: output, text: output - reasoning, reasoning },
});

/** What the model streams: two calls of tools, then an answer. */
const answers = [
  [
    { type: 'response-metadata', modelId: 'gpt-5-mini-2026-08-07' },
    ...reasoning('The oven first.'),
    { ...call('c-1', 'oven'), input: '{"degrees":220}' },
    { ...call('c-2', 'scale'), input: '{"grams":500}' },
    {
      type: 'finish',
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: usage(1_204, 1_000, 56, 20),
    },
  ],
  [
    ...text('The bread is in the oven.'),
    { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: usage(1_310, 1_200, 80, 0) },
  ],
];

async function* inOrder(parts: readonly object[]): AsyncGenerator<object> {
  yield* parts;
}

/** A model of the AI SDK by this name. */
const modelOf = (modelId: string) => {
  let count = 0;
  return {
    specificationVersion: 'v4',
    provider: 'openai.responses',
    modelId,
    supportedUrls: {},
    doStream: async () => ({ stream: streamOf(inOrder(answers[count++] ?? [])) }),
  };
};

/** An agent on the AI SDK that bakes with the model that the message names second. */
export const modelAgent: Agent = (turn) => {
  const [, modelId = 'gpt-5-mini'] = turn.text.split(' ');
  const tools = {
    oven: { inputSchema: z.object({ degrees: z.number() }), execute: async () => 'hot' },
    scale: {
      inputSchema: z.object({ grams: z.number() }),
      execute: async (): Promise<string> => {
        throw new Error('No battery');
      },
    },
  };
  const settings = {
    instructions,
    stopWhen: ({ steps }: { steps: readonly unknown[] }) => steps.length === 3,
  };
  return agentOn(
    modelOf(modelId) as never,
    tools,
    { keepPrompts: true },
    settings,
  )(turn) as ReturnType<Agent>;
};
