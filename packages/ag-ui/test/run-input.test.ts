import { describe, expect, it } from 'vitest';
import { AG_UI, frontEndOf, newMessages, partsOf, toolResults } from '../src/messages.ts';
import { readRunInput } from '../src/run-input.ts';

const body = { threadId: 't', runId: 'r', messages: [] };

describe('the body of a run', () => {
  it('has no tools, context or answers unless it says so', () => {
    expect(readRunInput(body)).toEqual({
      ...body,
      tools: [],
      context: [],
      state: undefined,
      forwardedProps: undefined,
      resume: undefined,
      isModern: false,
    });
    expect(readRunInput({ ...body, resume: [] }).resume).toBeUndefined();
  });

  it('is read member by member, without those that are not known', () => {
    const tool = { name: 'map', parameters: {} };
    const call = { id: 'c', type: 'function', function: { name: 'map', arguments: '{"a":1}' } };
    const given = {
      ...body,
      messages: [
        { id: 'a', role: 'user', content: 'Hi', other: 1 },
        { id: 'b', role: 'assistant', toolCalls: [call, { id: 'd', function: { name: 'x' } }] },
        { id: 'c', role: 'tool', toolCallId: 'c', content: '1', error: 'No' },
      ],
      tools: [tool],
      context: [{ description: 'a', value: 'b' }],
      state: { a: 1 },
      forwardedProps: 7,
      resume: [
        { interruptId: 'i', status: 'resolved', payload: 1 },
        { interruptId: 'j', status: 'cancelled', other: 2 },
      ],
    };
    expect(readRunInput(given)).toMatchObject({
      tools: [tool],
      context: [{ description: 'a', value: 'b' }],
      state: { a: 1 },
      forwardedProps: 7,
    });
    const { messages, resume } = readRunInput(given);
    expect(messages).toEqual([
      { id: 'a', role: 'user', content: 'Hi' },
      {
        id: 'b',
        role: 'assistant',
        toolCalls: [call, { id: 'd', type: 'function', function: { name: 'x', arguments: '{}' } }],
      },
      { id: 'c', role: 'tool', toolCallId: 'c', content: '1', error: 'No' },
    ]);
    expect(resume).toEqual([
      { interruptId: 'i', status: 'resolved', payload: 1 },
      { interruptId: 'j', status: 'cancelled' },
    ]);
  });

  it.each([
    ['1.0', true],
    ['2', true],
    ['0.0.39', false],
    [1, false],
    [undefined, false],
  ])('of the version %j is of 1.0 or newer: %s', (protocolVersion, isModern) => {
    expect(readRunInput({ ...body, protocolVersion }).isModern).toBe(isModern);
  });

  const messages = '`messages` is a list of messages';
  const resume = '`resume` is a list of answers to interrupts';
  it.each<[object | null, string]>([
    [null, '`messages` is a list'],
    [{ ...body, threadId: '' }, '`threadId` is a text that is not empty'],
    [{ ...body, runId: 7 }, '`runId` is a text that is not empty'],
    [{ ...body, messages: {} }, '`messages` is a list'],
    [{ ...body, messages: [null] }, messages],
    [{ ...body, messages: [{ id: 'a' }] }, messages],
    [{ ...body, messages: [{ role: 'user' }] }, messages],
    [{ ...body, messages: [{ id: 'a', role: 'b', toolCalls: [{ id: 'c' }] }] }, messages],
    [{ ...body, messages: [{ id: 'a', role: 'b', toolCalls: [{ function: { name: 'x' } }] }] }, messages],
    [{ ...body, tools: 'x' }, '`tools` is a list'],
    [{ ...body, context: 'x' }, '`context` is a list'],
    [{ ...body, resume: 'x' }, '`resume` is a list'],
    [{ ...body, resume: [{ interruptId: 'i', status: 'done' }] }, resume],
    [{ ...body, resume: [{ status: 'resolved' }] }, resume],
  ])('is refused: %j', (wrong, message) => {
    expect(() => readRunInput(wrong)).toThrow(expect.objectContaining({ reason: 'INVALID_PARAMS', message }));
  });
});

const said = (role: string, more: object = {}) => ({ id: role, role, content: role, ...more });

describe('the messages of a front end', () => {
  it('are new where no answer follows', () => {
    expect(
      newMessages([said('user'), said('assistant'), said('user'), said('system'), said('user')]),
    ).toEqual([said('user'), said('user')]);
    expect(newMessages([said('user'), said('tool')])).toEqual([]);
    expect(newMessages([said('user')])).toEqual([said('user')]);
  });

  it('end with results of tools, which are JSON or text', () => {
    const result = (toolCallId: string | undefined, content: unknown, more: object = {}) =>
      said('tool', { ...(toolCallId && { toolCallId }), content, ...more }) as never;
    const results = toolResults([
      result('before', '1'),
      said('user'),
      result('json', '{"a":1}'),
      result('text', 'plain'),
      result('list', [1]),
      result('none', undefined),
      result('failed', '1', { error: 'No' }),
      result(undefined, '2'),
    ]);
    expect([...results]).toEqual([
      ['json', { a: 1 }],
      ['text', 'plain'],
      ['list', [1]],
      ['none', null],
      ['failed', { error: 'No' }],
    ]);
  });

  it.each<[unknown, object[]]>([
    ['Hi', [{ text: 'Hi' }]],
    ['', []],
    [undefined, []],
    [{ text: 'x' }, []],
    [[{ type: 'text', text: 'a' }, null, 7], [{ text: 'a' }]],
    [
      [{ source: { type: 'data', value: 'aGk=', mimeType: 'text/plain' } }],
      [{ raw: 'aGk=', mediaType: 'text/plain' }],
    ],
    [[{ source: { type: 'url', value: 'https://a' } }], [{ url: 'https://a' }]],
    [[{ source: { type: 'url', value: 7, mimeType: 'a' } }], []],
    [[{ source: { type: 'url', value: 'https://b', mimeType: 7 } }], [{ url: 'https://b' }]],
  ])('have the parts of %j', (content, parts) => {
    expect(partsOf({ id: 'm', role: 'user', content: content as never })).toEqual(parts);
  });
});

describe('what a front end sent with a message', () => {
  const sent = (value: unknown) => frontEndOf({ metadata: { [AG_UI]: value as never } });

  it.each([undefined, null, 'x', {}, { tools: [] }, { context: [] }, { tools: {}, context: [] }])(
    'is nothing in %j',
    (value) => {
      expect(sent(value)).toBeUndefined();
    },
  );

  it('has tools and context that are such, and no others', () => {
    expect(frontEndOf({})).toBeUndefined();
    const tools = [
      { name: 'a', description: 'A', parameters: { type: 'object' }, other: 1 },
      { name: 'b', description: 7, parameters: [] },
      { name: 'c', parameters: null },
      { description: 'none' },
      null,
    ];
    const context = [{ description: 'a', value: 'b', other: 1 }, { description: 'a' }, { value: 'b' }, null];
    expect(sent({ tools, context, state: 1, forwardedProps: 2 })).toEqual({
      tools: [{ name: 'a', description: 'A', parameters: { type: 'object' } }, { name: 'b' }, { name: 'c' }],
      context: [{ description: 'a', value: 'b' }],
      state: 1,
      forwardedProps: 2,
    });
  });
});
