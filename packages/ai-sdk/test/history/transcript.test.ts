import type { TextStreamPart, ToolSet } from 'ai';
import { describe, expect, it } from 'vitest';
import { outputsOf, transcriptOf } from '../../src/history/transcript.ts';

/** What a stream of these parts makes. */
async function read(parts: readonly object[], tools: ToolSet = {}) {
  const transcript = transcriptOf(outputsOf(tools));
  for (const part of parts) await transcript.add(part as TextStreamPart<ToolSet>);
  return transcript;
}

const messagesOf = async (parts: readonly object[], tools?: ToolSet) =>
  JSON.parse(JSON.stringify((await read(parts, tools)).messages()));

const textOf = (kind: string, id: string, ...pieces: string[]) => [
  { type: `${kind}-start`, id },
  ...pieces.map((text) => ({ type: `${kind}-delta`, id, text })),
  { type: `${kind}-end`, id },
];

const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { a: 1 } };
const result = { type: 'tool-result', toolCallId: 'c', toolName: 'look', input: { a: 1 }, output: { b: 2 } };
const about = { toolCallId: 'c', toolName: 'look' };

describe('the texts of a stream', () => {
  it('are put together, each of its own', async () => {
    expect(
      await messagesOf([
        ...textOf('reasoning', '1', 'I ', 'think'),
        ...textOf('text', '1', 'It ', 'is'),
        ...textOf('text', '2', 'so'),
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'I think' },
          { type: 'text', text: 'It is' },
          { type: 'text', text: 'so' },
        ],
      },
    ]);
  });

  it('may come at the same time, with the same id', async () => {
    const [textStart, textPiece, textEnd] = textOf('text', '1', 'said');
    const [start, piece, end] = textOf('reasoning', '1', 'thought');
    expect(await messagesOf([textStart!, start!, textPiece!, piece!, end!, textEnd!])).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'thought' },
          { type: 'text', text: 'said' },
        ],
      },
    ]);
  });

  it('are left out where they are empty and say nothing to the provider', async () => {
    expect(await messagesOf(textOf('text', '1'))).toEqual([]);
    const signed = { type: 'reasoning-end', id: '1', providerMetadata: { p: { signature: 's' } } };
    expect(await messagesOf([{ type: 'reasoning-start', id: '1' }, signed])).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: '', providerOptions: { p: { signature: 's' } } }],
      },
    ]);
  });

  it('keep the last metadata of their provider', async () => {
    const piece = (n?: number) => ({
      type: 'text-delta',
      id: '1',
      text: 'x',
      ...(n && { providerMetadata: { p: { n } } }),
    });
    const [start, end] = textOf('text', '1');
    expect(await messagesOf([start!, piece(1), piece(2), piece(), end!])).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'xxx', providerOptions: { p: { n: 2 } } }] },
    ]);
  });

  it('that have not ended are no part of the messages', async () => {
    expect(await messagesOf(textOf('text', '1', 'half').slice(0, -1))).toEqual([]);
    const [start, piece, end] = textOf('text', '1', 'half');
    // The next step begins again.
    expect(await messagesOf([start!, piece!, { type: 'start-step' }, end!])).toEqual([]);
  });
});

describe('the tools of a stream', () => {
  it('have their calls in the answer, and their results after it, step by step', async () => {
    const providerMetadata = { p: { n: 1 } };
    expect(
      await messagesOf([
        { type: 'start-step' },
        ...textOf('text', '1', 'Let me see'),
        { ...call, providerMetadata },
        result,
        { type: 'start-step' },
        ...textOf('text', '1', 'Seen'),
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see' },
          { type: 'tool-call', ...about, input: { a: 1 }, providerOptions: providerMetadata },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', ...about, output: { type: 'json', value: { b: 2 } } }],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Seen' }] },
    ]);
  });

  it.each<[string, object, object]>([
    ['a result', result, { type: 'json', value: { b: 2 } }],
    ['a text', { ...result, output: 'seen' }, { type: 'text', value: 'seen' }],
    ['nothing', { ...result, output: undefined }, { type: 'json', value: null }],
    [
      'an error',
      { ...call, type: 'tool-error', error: new Error('No') },
      { type: 'error-text', value: 'No' },
    ],
    ['a text as an error', { ...call, type: 'tool-error', error: 'No' }, { type: 'error-text', value: 'No' }],
    ['a denial', { ...about, type: 'tool-output-denied' }, { type: 'execution-denied' }],
  ])('that gave %s do not wait any more', async (_what, part, output) => {
    const transcript = await read([call, part]);
    expect(transcript.pending).toEqual([]);
    expect(transcript.messages()[1]).toEqual({
      role: 'tool',
      content: [{ type: 'tool-result', ...about, output }],
    });
  });

  it.each([
    { ...result, providerExecuted: true },
    { ...call, type: 'tool-error', error: new Error('No'), providerExecuted: true },
  ])('that the provider runs do not wait, and have their results in the answer: %j', async (part) => {
    const transcript = await read([{ ...call, providerExecuted: true }, part]);
    expect(transcript.pending).toEqual([]);
    expect(transcript.messages()).toMatchObject([
      {
        role: 'assistant',
        content: [{ type: 'tool-call', providerExecuted: true }, { type: 'tool-result' }],
      },
    ]);
    expect((await read([{ ...call, providerExecuted: true }])).pending).toEqual([]);
  });

  it('wait for their output, and go on waiting while they show what they have', async () => {
    const transcript = await read([call, { ...result, preliminary: true }]);
    expect(transcript.pending).toStrictEqual([{ ...about, input: { a: 1 }, needs: 'output' }]);
    expect([transcript.has('c'), transcript.has('d')]).toEqual([true, false]);
    expect(transcript.messages()).toHaveLength(1);
  });

  it('wait for an approval, unless it was given by itself', async () => {
    const { type: _, ...toolCall } = call;
    const asked = { type: 'tool-approval-request', approvalId: 'a', signature: 's', reason: 'Far', toolCall };
    const transcript = await read([call, asked]);
    expect(transcript.pending).toEqual([
      { ...about, input: { a: 1 }, needs: 'approval', approvalId: 'a', reason: 'Far' },
    ]);
    expect(JSON.parse(JSON.stringify(transcript.messages()))).toMatchObject([
      {
        content: [
          { type: 'tool-call' },
          { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c', signature: 's', reason: 'Far' },
        ],
      },
    ]);
    const automatic = await read([call, { ...asked, isAutomatic: true }]);
    expect(automatic.pending).toMatchObject([{ needs: 'output' }]);
    expect(automatic.messages()[0]).toMatchObject({ content: [{}, { isAutomatic: true }] });
  });

  it('have the answer to an approval before their result', async () => {
    const answered = { type: 'tool-approval-response', approvalId: 'a', approved: true, reason: 'Go' };
    expect(await messagesOf([call, { ...answered, providerExecuted: true }, result])).toMatchObject([
      { role: 'assistant' },
      { role: 'tool', content: [{ ...answered, providerExecuted: true }, { type: 'tool-result' }] },
    ]);
  });

  it.each([
    [{ ...call, invalid: true, input: '{"a":' }, {}],
    [{ ...call, invalid: true }, { a: 1 }],
    [{ ...call, input: 'text' }, 'text'],
  ])('have an input that is an object: %j', async (part, input) => {
    expect(await messagesOf([part])).toMatchObject([{ content: [{ type: 'tool-call', input }] }]);
  });

  it('give their results as they say', async () => {
    const seen: object[] = [];
    const look = {
      toModelOutput(given: object) {
        seen.push(given);
        return { type: 'text', value: 'short' };
      },
    };
    const [, message] = await messagesOf([call, result], { look: look as never });
    expect(message.content).toMatchObject([{ output: { type: 'text', value: 'short' } }]);
    expect(seen).toEqual([{ toolCallId: 'c', input: { a: 1 }, output: { b: 2 } }]);
    const named = { ...result, toolName: 'toString' };
    expect((await messagesOf([call, named], {}))[1].content).toMatchObject([{ output: { type: 'json' } }]);
  });
});

it('a file is a part of the answer', async () => {
  const file = { base64: 'aGk=', mediaType: 'text/plain' };
  expect(await messagesOf([{ type: 'file', file, providerMetadata: { p: {} } }])).toEqual([
    {
      role: 'assistant',
      content: [{ type: 'file', data: 'aGk=', mediaType: 'text/plain', providerOptions: { p: {} } }],
    },
  ]);
});
