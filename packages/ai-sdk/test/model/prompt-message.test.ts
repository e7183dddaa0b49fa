import type { Message } from '@batonjs/protocol';
import { completed, inputRequired, textOf } from '@batonjs/server';
import { generateText, type ModelMessage } from 'ai';
import { afterAll, expect, it } from 'vitest';
import { serve } from '../../../../test/kit/serve.ts';
import { a2a } from '../../src/client.ts';

globalThis.AI_SDK_LOG_WARNINGS = false;
afterAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = undefined;
});

/** A model behind which an agent asks once for each task, and what the agent got: its context, and the text. */
function asking() {
  const got: (string | undefined)[][] = [];
  const agent = serve(async function* ({ message, messages, contextId }) {
    got.push([contextId, textOf(message).replace('Be kind', 'Be kind|')]);
    if (isFirst(messages)) yield inputRequired('Which one?');
    else yield completed('Booked');
  });
  return { model: a2a(agent), got };
}

const isFirst = (messages: readonly Message[]) => messages.length === 1;

const inContext = (contextId: string) => ({ providerOptions: { a2a: { contextId } } });

it('a question in a context that the caller names is answered by the next prompt, and instructions are sent once', async () => {
  const { model, got } = asking();
  const settings = { model, instructions: 'Be kind', ...inContext('mine') };
  const messages: ModelMessage[] = [{ role: 'user', content: 'book' }];
  const asked = await generateText({ ...settings, messages });
  expect(asked.text).toBe('Which one?');
  messages.push(...asked.responseMessages, { role: 'user', content: 'the red one' });
  expect((await generateText({ ...settings, messages })).text).toBe('Booked');
  expect(got).toEqual([
    ['mine', 'Be kind|book'],
    ['mine', 'the red one'],
  ]);
});

it('a prompt goes to the context that the caller names, where another one was continued before', async () => {
  const { model, got } = asking();
  const settings = { model, instructions: 'Be kind' };
  const messages: ModelMessage[] = [{ role: 'user', content: 'book' }];
  for (const context of ['mine', 'other', 'mine']) {
    const { responseMessages } = await generateText({ ...settings, messages, ...inContext(context) });
    messages.push(...responseMessages, { role: 'user', content: `more in ${context}` });
  }
  expect(got).toEqual([
    ['mine', 'Be kind|book'],
    ['other', 'Be kind|more in mine'],
    ['mine', 'more in other'],
  ]);
});

it('a task that the caller names gets no instructions: they would be a part of its answer', async () => {
  const { model, got } = asking();
  const { providerMetadata } = await generateText({ model, prompt: 'book' });
  const { contextId, taskId } = providerMetadata!.a2a as { contextId: string; taskId: string };
  const providerOptions = { a2a: { contextId, taskId } };
  const { text } = await generateText({ model, instructions: 'Be kind', prompt: 'yes', providerOptions });
  expect([text, got[1]]).toEqual(['Booked', [contextId, 'yes']]);
});

it('what another model was told after the answer of the agent is sent as well, as text', async () => {
  const { model, got } = asking();
  const messages: ModelMessage[] = [{ role: 'user', content: 'book' }];
  const { responseMessages } = await generateText({ model, messages });
  messages.push(...responseMessages, { role: 'user', content: 'Which are there?' });
  messages.push({ role: 'assistant', content: 'Red and blue' }, { role: 'user', content: 'the red one' });
  await generateText({ model, messages });
  expect(got[1]?.[0]).not.toBe(got[0]?.[0]);
  for (const said of ['book', 'Which are there?', 'Red and blue', 'the red one'])
    expect(got[1]?.[1]).toContain(said);
});
