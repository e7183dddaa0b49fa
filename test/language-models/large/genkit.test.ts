import { connect, textOf } from '@batonjs/client';
import { genkit, z } from 'genkit/beta';
import { expect, it } from 'vitest';
import { serve } from '../../kit/serve.ts';
import { genkitAgent } from './genkit.ts';

it('a model of Genkit streams its answer, asks with an interrupt and goes on with the answer', async () => {
  const ai = genkit({});
  // A model that calls a tool, and then streams what the tool gave.
  const model = ai.defineModel(
    { name: 'double', supports: { tools: true } },
    async ({ messages }, sendChunk) => {
      const given = messages.at(-1)?.content.find(({ toolResponse }) => toolResponse)?.toolResponse?.output;
      if (given === undefined) {
        const toolRequest = { name: 'ask', ref: 'call-1', input: { question: 'Which room?' } };
        return { message: { role: 'model', content: [{ toolRequest }] }, finishReason: 'stop' };
      }
      const words = ['Booked ', String(given)];
      for (const text of words) sendChunk?.({ content: [{ text }] });
      return { message: { role: 'model', content: [{ text: words.join('') }] }, finishReason: 'stop' };
    },
  );
  const inputSchema = z.object({ question: z.string() });
  const ask = ai.defineInterrupt({
    name: 'ask',
    description: 'Asks the user',
    inputSchema,
    outputSchema: z.string(),
  });
  const server = serve(genkitAgent(ai, ask as never, { model }));
  const client = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
  const { task } = await client.send('Book a room');
  expect([task?.status.state, textOf(task?.status.message)]).toEqual([
    'TASK_STATE_INPUT_REQUIRED',
    'Which room?',
  ]);
  // What the model said before is in the memory of the task.
  expect(JSON.stringify(task)).not.toMatch(/metadata|toolRequest/);
  const { task: done } = await client.send('the red one', { task: task! });
  expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textOf(done?.artifacts?.[0])).toBe('Booked the red one');
});
