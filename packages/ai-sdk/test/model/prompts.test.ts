import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { Part } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/model/prompt-message.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];

const system = { role: 'system', content: 'Be kind' };
const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });
const assistant = (text: string, a2a?: object, more: object = {}) => ({
  role: 'assistant',
  content: [
    { type: 'text', text },
    { type: 'text', text: '', ...(a2a && { providerOptions: { a2a } }) },
  ],
  ...more,
});

const sent = (prompt: readonly object[], a2a?: object) => {
  const { parts, ...continued } = messageOf(prompt as unknown as Prompt, a2a && ({ a2a } as never));
  return { ...continued, said: parts.map((part) => ('text' in part ? part.text : Object.keys(part)[0])) };
};

describe('a prompt', () => {
  it.each<[string, readonly object[], object | undefined, object]>([
    ['alone', [user('one')], undefined, { said: ['one'] }],
    ['with instructions', [system, system, user('one')], undefined, { said: ['Be kind\n\nBe kind', 'one'] }],
    [
      'after words of another model',
      [user('one'), assistant('Yes'), user('two')],
      undefined,
      { said: ['User: one\n\nAssistant: Yes\n', 'two'] },
    ],
    [
      'after words of another model, with the context named',
      [system, user('one'), assistant('Yes'), user('two')],
      { contextId: 'mine' },
      { contextId: 'mine', said: ['Be kind', 'two'] },
    ],
    [
      'after an answer of the agent',
      [
        system,
        user('one'),
        assistant('Yes', { contextId: 'c', taskId: 't', state: 'TASK_STATE_COMPLETED' }),
        user('two'),
      ],
      undefined,
      { contextId: 'c', said: ['two'] },
    ],
    [
      'after a question of the agent',
      [
        system,
        user('one'),
        assistant('Which?', { contextId: 'c', taskId: 't', state: 'TASK_STATE_INPUT_REQUIRED' }),
        user('two'),
      ],
      undefined,
      { contextId: 'c', taskId: 't', said: ['two'] },
    ],
    [
      'after an authorization that the agent needs',
      [assistant('Which?', { taskId: 't', state: 'TASK_STATE_AUTH_REQUIRED' }), user('two')],
      undefined,
      { taskId: 't', said: ['two'] },
    ],
    [
      'whose metadata stands at the message',
      [assistant('Yes', undefined, { providerOptions: { a2a: { contextId: 'c' } } }), user('two')],
      undefined,
      { contextId: 'c', said: ['two'] },
    ],
    [
      'whose metadata is none',
      [assistant('Yes', { contextId: 7, taskId: 7 }), user('two')],
      { contextId: 7, taskId: null },
      { said: ['Assistant: Yes\n', 'two'] },
    ],
    [
      'in a task that the caller names',
      [system, user('one'), assistant('Yes', { contextId: 'c' }), user('two')],
      { taskId: 't' },
      { taskId: 't', said: ['two'] },
    ],
    [
      'in a context in which the agent answered before another one',
      [
        user('one'),
        assistant('A', { contextId: 'a', taskId: 't', state: 'TASK_STATE_INPUT_REQUIRED' }),
        assistant('B', { contextId: 'b' }),
        user('two'),
      ],
      { contextId: 'a' },
      { contextId: 'a', taskId: 't', said: ['two'] },
    ],
    [
      'after two answers of the agent',
      [assistant('A', { contextId: 'a' }), assistant('B', { contextId: 'b' }), user('two')],
      undefined,
      { contextId: 'b', said: ['two'] },
    ],
    [
      'after an answer of the agent and one of another model',
      [user('one'), assistant('A', { contextId: 'a' }), assistant('B'), user('two')],
      undefined,
      { said: ['User: one\n\nAssistant: A\n\n\nAssistant: B\n', 'two'] },
    ],
    [
      'with several messages',
      [assistant('A', { contextId: 'a' }), user('one'), system, user('two')],
      undefined,
      { contextId: 'a', said: ['one', 'two'] },
    ],
  ])('%s sends what the agent does not know', (_what, prompt, options, expected) => {
    expect(sent(prompt, options)).toEqual(expected);
  });

  it.each<[string, object, Part | undefined]>([
    ['a text', { type: 'text', text: 'a' }, { text: 'a' }],
    [
      'an address',
      {
        type: 'file',
        mediaType: 'image/png',
        filename: 'a.png',
        data: { type: 'url', url: new URL('https://a.example/b') },
      },
      { url: 'https://a.example/b', mediaType: 'image/png', filename: 'a.png' },
    ],
    [
      'base64',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'aGk=' } },
      { raw: 'aGk=', mediaType: 'image/png' },
    ],
    [
      'bytes',
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([104, 105]) } },
      { raw: 'aGk=', mediaType: 'image/png' },
    ],
    [
      'a document',
      { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'words' } },
      { text: 'words', mediaType: 'text/plain' },
    ],
    ['a part of another kind', { type: 'custom', text: 'x' }, undefined],
  ])('with %s sends it', (_what, part, given) => {
    const { parts } = messageOf([{ role: 'user', content: [part] }] as unknown as Prompt, undefined);
    expect(parts).toStrictEqual(given ? [given] : []);
  });

  it('with a file of a provider is refused', () => {
    const file = { type: 'file', mediaType: 'a/b', data: { type: 'reference', reference: {} } };
    expect(() => messageOf([{ role: 'user', content: [file] }] as unknown as Prompt, undefined)).toThrow(
      new TypeError('A file of a provider cannot be sent to an agent'),
    );
  });

  it('with results of tools sends them as text, those that have a value', () => {
    const result = (output: object) => ({ type: 'tool-result', toolCallId: 'c', toolName: 'look', output });
    const content = [
      result({ type: 'json', value: { a: 1 } }),
      result({ type: 'text', value: 'words' }),
      result({ type: 'execution-denied', reason: 'No' }),
      { type: 'tool-approval-response', approvalId: 'a', approved: true },
    ];
    expect(sent([{ role: 'tool', content }])).toEqual({ said: ['look: {"a":1}', 'look: "words"'] });
  });
});
