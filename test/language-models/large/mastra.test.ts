import { connect, textOf } from '@batonjs/client';
import { runTurn } from '@batonjs/testing';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { serveModel } from '../../../packages/ai-sdk/test/openai-server.ts';
import { serve } from '../../kit/serve.ts';
import { workflowAgent } from './mastra.ts';

it('a workflow of Mastra asks when it suspends, resumes with the answer and answers with a model', async () => {
  const models = await serveModel(() => ({ text: ['Booked ', 'a room'] }));
  onTestFinished(() => models[Symbol.asyncDispose]());
  const model = { id: 'local/local', url: models.url, apiKey: 'none' } as const;
  const clerk = new Agent({ id: 'clerk', name: 'Clerk', instructions: 'Book rooms', model });
  const text = z.object({ text: z.string() });
  const ask = createStep({
    id: 'ask',
    inputSchema: text,
    outputSchema: text,
    suspendSchema: z.object({ question: z.string() }),
    resumeSchema: z.object({ answer: z.string() }),
    execute: async ({ inputData, resumeData, suspend }) =>
      resumeData ? { text: `${inputData.text}: ${resumeData.answer}` } : suspend({ question: 'Which room?' }),
  });
  const book = createStep({
    id: 'book',
    inputSchema: text,
    outputSchema: text,
    execute: async ({ inputData }) => ({ text: (await (await clerk.stream(inputData.text)).text) ?? '' }),
  });
  const workflow = createWorkflow({ id: 'booking', inputSchema: text, outputSchema: text })
    .then(ask)
    .then(book)
    .commit();
  const mastra = new Mastra({ workflows: { workflow }, storage: new InMemoryStore(), logger: false });
  const server = serve(workflowAgent(mastra.getWorkflow('workflow') as never));
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { task } = await client.send('Book a room');
  expect([task?.status.state, textOf(task?.status.message)]).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    'Which room?',
  ]);
  const { task: done } = await client.send('the red one', { task: task! });
  expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textOf(done?.artifacts?.[0])).toBe('Booked a room');
  expect(JSON.stringify(models.requests[0]?.messages)).toMatch('Book a room: the red one');
});

it('a workflow of Mastra goes on after the last step that ended, when its turn is run again', async () => {
  const runs: string[] = [];
  const text = z.object({ text: z.string() });
  const held = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const storage = new InMemoryStore();
  // Each process has a Mastra of its own on the same storage. The second step of the first one never ends.
  const processOf = (second: () => Promise<void>) => {
    const step = (id: string, work: () => Promise<void>) =>
      createStep({
        id,
        inputSchema: text,
        outputSchema: text,
        execute: async () => {
          runs.push(id);
          await work();
          return { text: id };
        },
      });
    const first = step('first', async () => {});
    const workflow = createWorkflow({ id: 'two', inputSchema: text, outputSchema: text })
      .then(first)
      .then(step('second', second))
      .commit();
    return new Mastra({ workflows: { workflow }, storage, logger: false }).getWorkflow('workflow') as never;
  };
  const stuck = processOf(async () => {
    began.resolve();
    await held.promise;
  });
  void runTurn(workflowAgent(stuck), 'go');
  await began.promise;
  const { updates } = await runTurn(workflowAgent(processOf(async () => {})), 'go', { attempt: 2 });
  expect(updates.at(-1)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  expect(runs).toEqual(['first', 'second', 'second']);
});
