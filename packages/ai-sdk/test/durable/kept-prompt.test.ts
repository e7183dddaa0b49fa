import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { keptPrompt } from '../../src/durable/kept-prompt.ts';

const said = (role: 'user' | 'assistant', text: string): LanguageModelV4Prompt[number] => ({
  role,
  content: [{ type: 'text', text }],
});
const long: LanguageModelV4Prompt = [
  { role: 'system', content: 'Be brief' },
  said('user', 'one'),
  said('assistant', 'two'),
  said('user', 'three'),
];

const linesOf = (prompt: LanguageModelV4Prompt, bytes = 1_000) => {
  const { messages, isCut } = keptPrompt(prompt, bytes);
  return [...messages.map(({ role, text }) => `${role}: ${text}`), ...(isCut ? ['cut'] : [])];
};

it.each([
  [19, ['system: Be brief', 'user: one', 'assistant: two', 'user: three']],
  [18, ['system: Be brief', 'user: on', 'assistant: two', 'user: three', 'cut']],
  [16, ['system: Be brief', 'assistant: two', 'user: three', 'cut']],
  [13, ['system: Be brief', 'user: three', 'cut']],
  [10, ['system: Be brief', 'user: th', 'cut']],
  [8, ['system: Be brief', 'cut']],
  [1, ['system: B', 'cut']],
])('in %i bytes are the instructions, then the newest messages', (bytes, lines) => {
  expect(linesOf(long, bytes)).toEqual(lines);
});

it('a character is kept whole or not at all, and nothing after it', () => {
  const prompt = [said('user', 'ab'), said('user', 'é€😀')];
  expect(linesOf(prompt, 4)).toEqual(['user: é', 'cut']);
  expect(linesOf(prompt, 8)).toEqual(['user: é€', 'cut']);
  expect(linesOf(prompt, 9)).toEqual(['user: é€😀', 'cut']);
  expect(linesOf(prompt, 11)).toEqual(['user: ab', 'user: é€😀']);
});

it('parts are lines of text; files are their media types, calls and results JSON', () => {
  const call = { toolCallId: 'c', toolName: 'look' };
  const prompt: LanguageModelV4Prompt = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'c2VjcmV0' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm' },
        { type: 'tool-call', ...call, input: { at: 'Oulu' } },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', ...call, output: { type: 'json', value: { degrees: 7 } } },
        { type: 'tool-result', ...call, output: { type: 'text', value: 'cold' } },
        { type: 'tool-result', ...call, output: { type: 'error-text', value: 'broken' } },
        { type: 'tool-result', ...call, output: { type: 'execution-denied', reason: 'no' } },
        { type: 'tool-result', ...call, output: { type: 'execution-denied' } },
        {
          type: 'tool-result',
          ...call,
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'a map' },
              { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'c2VjcmV0' } },
            ],
          },
        },
        { type: 'tool-approval-response', approvalId: 'a', approved: true },
      ],
    },
  ];
  expect(linesOf(prompt)).toEqual([
    'user: See\n[image/png]',
    'assistant: Hm\n[look] {"at":"Oulu"}',
    [
      'tool: [look] {"degrees":7}',
      '[look] cold',
      '[look] broken',
      '[look] denied: no',
      '[look] denied',
      '[look] a map',
      '[file]',
      '[tool-approval-response]',
    ].join('\n'),
  ]);
});
