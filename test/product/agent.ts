import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamedAgent } from '@batonjs/ai-sdk';
import { type Agent, artifact, completed } from '@batonjs/server';
import { isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';
import { invoice, paidOn, pay } from './books.ts';

const { MODEL_URL = '', MODEL_NAME = 'default' } = process.env;
const language = createOpenAICompatible({ name: 'model', baseURL: MODEL_URL })(MODEL_NAME);
const number = z.object({ number: z.string().describe('The number of the invoice') });

const clerk = streamedAgent(({ messages, signal, model, tools, turn }) =>
  streamText({
    model: model(language),
    instructions: 'You look after the invoices of a shop. Be short.',
    messages,
    abortSignal: signal,
    tools: {
      // A call that is done is not made again after a crash. What it throws is a result, which the model reads.
      ...tools({ find: tool({ description: 'Finds an invoice', inputSchema: number, execute: invoice }) }),
      pay: tool({
        description: 'Pays an invoice',
        inputSchema: number,
        // A step of its own is tried again instead.
        execute: (input) => turn.step(`pay ${input.number}`, () => pay(input)),
      }),
    },
    // A person decides: the turn ends, and the answer starts the next one.
    toolApproval: { pay: 'user-approval' },
    stopWhen: isStepCount(10),
  }),
);

/** The message of the schedule needs no model. */
const report: Agent = async function* ({ step, metadata }) {
  const { dueAt } = metadata.schedule as { readonly dueAt: string };
  yield artifact('report', await step('report', () => paidOn(dueAt.slice(0, 10))));
  yield completed();
};

export const agent: Agent = (turn) => (turn.metadata.schedule ? report(turn) : clerk(turn));
