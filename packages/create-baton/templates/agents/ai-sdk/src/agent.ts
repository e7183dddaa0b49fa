import { streamedAgent } from '@batonjs/ai-sdk';
import { isStepCount, type LanguageModel, streamText, tool } from 'ai';
import { z } from 'zod';
import { modelFrom } from './model.ts';

export const card = {
  name: '{{title}}',
  description: 'Answers about orders, with a language model',
  version: '0.1.0',
  skills: [{ id: 'orders', name: 'Orders', description: 'Finds and cancels orders', tags: ['orders'] }],
};

const order = z.object({ order: z.string().describe('The number of the order') });

const tools = {
  find: tool({
    description: 'Finds an order',
    inputSchema: order,
    execute: async ({ order }) => ({ order, state: 'packed' }),
  }),
  cancel: tool({
    description: 'Cancels an order',
    inputSchema: order,
    // A result is recorded: after a crash, a call that finished is not made again.
    execute: async ({ order }) => ({ order, state: 'canceled' }),
  }),
};

/** Models and tools that go through `model` and `tools` are steps of the turn. */
export const answerWith = (language: LanguageModel) =>
  streamedAgent(
    ({ messages, signal, model, tools: recorded }) =>
      streamText({
        model: model(language),
        instructions: 'You help with orders. Be short.',
        messages,
        abortSignal: signal,
        tools: recorded(tools),
        // The user is asked before an order is canceled: the turn ends, and the answer starts the next one.
        toolApproval: { cancel: 'user-approval' },
        stopWhen: isStepCount(10),
        // The agent reports it once, below.
        onError() {},
      }),
    { onError: (error) => console.error(`The model failed: ${(error as Error).message}`) },
  );

export const agent = answerWith(modelFrom(process.env));
