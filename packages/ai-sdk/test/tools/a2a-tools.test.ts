import { skill, typedSkills } from '@batonjs/extensions';
import { artifact, completed, data, failed, inputRequired } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { asSchema, type Tool, type ToolSet } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../../test/kit/listen.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { a2aTools } from '../../src/client.ts';

const divide = skill({
  id: 'divide',
  name: 'Divide',
  description: 'Divides one number by another',
  examples: ['6 by 3'],
  input: z.object({ a: z.number(), b: z.number() }),
  async *run({ input: { a, b } }) {
    if (b === 0) return yield failed('Nothing can be divided by zero');
    yield artifact('result', data({ quotient: a / b }));
    yield completed();
  },
});
const calculator = () => {
  const { agent, ...options } = typedSkills({ name: 'Calculator', description: 'Calculates' }, divide);
  return serve(agent, options);
};

/** An agent that asks, and answers with the answer. */
const asking = () =>
  serve(async function* ({ messages, text, signal }) {
    if (text === 'wait')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    if (messages.length === 1) yield inputRequired('Which one?');
    else yield completed(`So ${text}`);
  });

const perform = (tools: ToolSet, name: string, input: object, abortSignal?: AbortSignal) =>
  (tools[name] as Tool).execute!(
    input as never,
    { toolCallId: 'c', messages: [], abortSignal, context: {} } as never,
  );

describe('the tools of an agent', () => {
  it('have the names, descriptions and schemas of its skills, read over HTTP', async () => {
    const url = await listen(nodeHandler(calculator()));
    const tools = await a2aTools({ calc: url });
    expect(Object.keys(tools)).toEqual(['calc_divide', 'calc_answer']);
    const { description, inputSchema } = tools.calc_divide as Tool;
    expect(description).toBe(
      'Divide (by the agent "Calculator")\nDivides one number by another\nExample: 6 by 3',
    );
    expect(await asSchema(inputSchema).jsonSchema).toMatchObject({ required: ['a', 'b'] });
    const answers = tools.calc_answer as Tool;
    expect(answers.description).toBe(
      'Answers a question of "calc": a result in the state "input-required" has the taskId',
    );
    expect(await asSchema(answers.inputSchema).jsonSchema).toEqual({
      type: 'object',
      properties: { taskId: { type: 'string' }, answer: { type: 'string' } },
      required: ['taskId', 'answer'],
      additionalProperties: false,
    });
    expect(await perform(tools, 'calc_divide', { a: 6, b: 3 })).toMatchObject({
      state: 'completed',
      data: { quotient: 2 },
    });
  });

  it('give how a task ended, also where it failed', async () => {
    const tools = await a2aTools({ calc: calculator() });
    expect(await perform(tools, 'calc_divide', { a: 6, b: 0 })).toMatchObject({
      state: 'failed',
      message: 'Nothing can be divided by zero',
    });
  });

  it('have names that models accept, and no two the same', async () => {
    const card = { name: 'Odd', description: 'Has odd names' };
    const odd = { tags: [], description: 'Odd' };
    const skills = [
      { ...odd, id: 'a b', name: 'A' },
      { ...odd, id: 'a/b', name: 'B' },
      { ...odd, id: 'ä'.repeat(80), name: 'C' },
    ];
    const tools = await a2aTools({ 'my agent': serve(async function* () {}, { card: { ...card, skills } }) });
    const names = Object.keys(tools);
    expect(names.slice(0, 2)).toEqual(['my_agent_a_b', 'my_agent_a_b_2']);
    for (const name of names) expect(name).toMatch(/^[\w-]{1,64}$/);
  });

  it('give a question as a result, which the tool for answers answers', async () => {
    const tools = await a2aTools({ shop: asking() });
    const asked = (await perform(tools, 'shop', { message: 'book' })) as { taskId: string };
    expect(asked).toMatchObject({ state: 'input-required', message: 'Which one?' });
    expect(await perform(tools, 'shop_answer', { taskId: asked.taskId, answer: 'red' })).toMatchObject({
      state: 'completed',
      message: 'So red',
    });
  });

  it('cancel their task when they are aborted', async () => {
    const shop = asking();
    const abort = new AbortController();
    let id: string | undefined;
    const watched = {
      ...shop,
      async fetch(request: Request) {
        const response = await shop.fetch(request);
        const reader = response.body!.getReader();
        const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
          // The client has read the event before: it knows the task.
          if (id) abort.abort();
          const { value, done } = await reader.read();
          id ??= /"task":\{"id":"([^"]+)"/.exec(new TextDecoder().decode(value))?.[1];
          if (done) controller.close();
          else controller.enqueue(value);
        };
        return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), response);
      },
    };
    const tools = await a2aTools({ shop: watched });
    await expect(perform(tools, 'shop', { message: 'wait' }, abort.signal)).rejects.toThrow();
    await until(shop, id!, 'CANCELED');
  });
});
