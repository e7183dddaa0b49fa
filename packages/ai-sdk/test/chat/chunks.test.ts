import type { AnswerPart } from '@batonjs/client/answers';
import type { Task } from '@batonjs/protocol';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { answersIn, callsIn, partsOf } from '../../src/chat/chat.ts';
import { chunksOf } from '../../src/chat/chunks.ts';

/** The chunks of these parts of an answer, after those that begin each. */
async function encoded(parts: readonly unknown[], shownCalls: readonly string[] = []) {
  const given = (async function* () {
    yield* parts as AnswerPart[];
  })();
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of chunksOf(given, 'm', shownCalls)) chunks.push(chunk);
  expect(chunks.slice(0, 2)).toEqual([{ type: 'start', messageId: 'm' }, { type: 'start-step' }]);
  return chunks.slice(2);
}

const text = (artifactId: string, delta: string) => ({ type: 'text', artifactId, delta });
const task = (state: string, words?: string, more: object = {}) =>
  ({
    id: 'task',
    contextId: 'c',
    status: {
      state: `TASK_STATE_${state}`,
      ...(words && { message: { messageId: 'last', role: 'ROLE_AGENT', parts: [{ text: words }] } }),
    },
    ...more,
  }) as Task;
const end = (state: string, words?: string) => ({ type: 'end', task: task(state, words) });
const finish = [{ type: 'finish-step' }, { type: 'finish', finishReason: 'stop' }];
const said = (id: string, delta: string) => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta },
  { type: 'text-end', id },
];

describe('the chunks of an answer', () => {
  it('are texts, each from its first piece to the end', async () => {
    expect(
      await encoded([text('x', 'He'), text('reasoning', 'Hm'), text('x', 'llo'), end('COMPLETED')]),
    ).toEqual([
      { type: 'text-start', id: 'x' },
      { type: 'text-delta', id: 'x', delta: 'He' },
      { type: 'reasoning-start', id: 'reasoning' },
      { type: 'reasoning-delta', id: 'reasoning', delta: 'Hm' },
      { type: 'text-delta', id: 'x', delta: 'llo' },
      { type: 'text-end', id: 'x' },
      { type: 'reasoning-end', id: 'reasoning' },
      ...finish,
    ]);
  });

  it('have a new text below one that was replaced', async () => {
    const replaced = (words: string) => ({ type: 'replaced', artifactId: 'x', text: words });
    expect(await encoded([text('x', 'Old'), replaced('New'), text('y', 'Other')])).toEqual([
      ...said('x', 'Old'),
      { type: 'text-start', id: 'x-1' },
      { type: 'text-delta', id: 'x-1', delta: 'New' },
      { type: 'text-start', id: 'y-1' },
      { type: 'text-delta', id: 'y-1', delta: 'Other' },
    ]);
    // The same words, and more of them, go on where they are.
    expect(await encoded([text('x', 'Same'), replaced('Sa'), text('x', 'me here')])).toEqual([
      { type: 'text-start', id: 'x' },
      { type: 'text-delta', id: 'x', delta: 'Same' },
      { type: 'text-delta', id: 'x', delta: ' here' },
    ]);
    expect(await encoded([text('x', 'Same'), replaced('Sa'), end('COMPLETED')])).toEqual([
      ...said('x', 'Same'),
      ...said('x-1', 'Sa'),
      ...finish,
    ]);
  });

  it('show the task, and what it does', async () => {
    const shown = { id: 'task', contextId: 'c', state: 'TASK_STATE_WORKING' };
    const progress = {
      type: 'progress',
      message: { messageId: 'p', role: 'ROLE_AGENT', parts: [{ text: 'On it' }] },
    };
    const call = { type: 'tool', call: { toolCallId: 'c', toolName: 'map', state: 'called' } };
    expect(await encoded([{ type: 'task', task: task('WORKING') }, progress, call])).toEqual([
      { type: 'data-task', id: 'task', data: shown },
      { type: 'data-task', id: 'task', data: { ...shown, text: 'On it' } },
      { type: 'data-task', id: 'task', data: { ...shown, text: 'Calls map' } },
    ]);
    const isOver = (state: string, words?: string) =>
      encoded([{ type: 'task', task: (end(state, words) as { task: Task }).task }]);
    for (const state of ['FAILED', 'REJECTED', 'CANCELED'])
      expect(await isOver(state, 'Broken')).toMatchObject([{ data: { text: 'Broken' } }]);
    expect(await isOver('COMPLETED', 'Done')).not.toHaveProperty('0.data.text');
    const bare = { ...task('WORKING'), contextId: '' };
    expect(await encoded([{ type: 'task', task: bare }])).toEqual([
      { type: 'data-task', id: 'task', data: { id: 'task', state: 'TASK_STATE_WORKING' } },
    ]);
  });

  it('show each call of a tool once, and what came of it', async () => {
    const call = (state: string, more: object = {}) => ({
      type: 'tool',
      call: { toolCallId: 'c', toolName: 'map', state, ...more },
    });
    const shown = (input: unknown) => ({
      type: 'tool-input-available',
      toolCallId: 'c',
      toolName: 'map',
      input,
      dynamic: true,
    });
    const done = (output: unknown) => ({
      type: 'tool-output-available',
      toolCallId: 'c',
      output,
      dynamic: true,
    });
    const called = call('called', { input: { a: 1 } });
    expect(await encoded([called, called, call('done', { input: { a: 1 }, output: 7 })])).toEqual([
      shown({ a: 1 }),
      done(7),
    ]);
    expect(await encoded([call('done')])).toEqual([shown({}), done(null)]);
    expect(await encoded([call('denied', { input: 1 })])).toEqual([
      shown(1),
      { type: 'tool-output-denied', toolCallId: 'c' },
    ]);
    expect(await encoded([call('failed', { input: 1 })])).toEqual([
      shown(1),
      { type: 'tool-output-error', toolCallId: 'c', errorText: 'map failed', dynamic: true },
    ]);
    expect(await encoded([call('done', { output: 1 })], ['c'])).toEqual([done(1)]);
  });

  it('have files, links and data of artifacts', async () => {
    const content = (part: object, name?: string) => ({
      type: 'content',
      artifact: { artifactId: 'x', ...(name && { name }), parts: [part] },
      part,
    });
    expect(
      await encoded([
        content({ url: 'https://a', mediaType: 'image/png' }),
        content({ raw: 'aGk=', mediaType: 'text/plain' }),
        content({ raw: 'aGk=' }),
        content({ data: { a: 1 } }, 'n'),
        content({ data: 0 }),
      ]),
    ).toEqual([
      { type: 'file', url: 'https://a', mediaType: 'image/png' },
      { type: 'file', url: 'data:text/plain;base64,aGk=', mediaType: 'text/plain' },
      {
        type: 'file',
        url: 'data:application/octet-stream;base64,aGk=',
        mediaType: 'application/octet-stream',
      },
      { type: 'data-artifact', id: 'x', data: { artifactId: 'x', name: 'n', data: { a: 1 } } },
      { type: 'data-artifact', id: 'x', data: { artifactId: 'x', data: 0 } },
    ]);
  });

  it.each<[unknown, object[]]>([
    [end('COMPLETED', 'Done'), [...said('last', 'Done'), ...finish]],
    [end('COMPLETED'), finish],
    [
      { type: 'end', message: { messageId: 'w', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } },
      [...said('w', 'Hi'), ...finish],
    ],
    [end('FAILED', 'Broken'), [{ type: 'error', errorText: 'Broken' }]],
    [end('FAILED'), [{ type: 'error', errorText: 'The agent failed' }]],
    [end('REJECTED', 'No'), [{ type: 'error', errorText: 'No' }]],
    [end('REJECTED'), [{ type: 'error', errorText: 'The agent does not do this' }]],
    [end('CANCELED', 'Enough'), [{ type: 'abort', reason: 'Enough' }]],
    [end('CANCELED'), [{ type: 'abort', reason: 'The task was canceled' }]],
    [
      end('INPUT_REQUIRED', 'Which?'),
      [
        ...said('last', 'Which?'),
        {
          type: 'data-question',
          id: 'last',
          data: { taskId: 'task', state: 'TASK_STATE_INPUT_REQUIRED', text: 'Which?' },
        },
        ...finish,
      ],
    ],
    [
      end('AUTH_REQUIRED'),
      [
        {
          type: 'data-question',
          id: 'task',
          data: { taskId: 'task', state: 'TASK_STATE_AUTH_REQUIRED', text: '' },
        },
        ...finish,
      ],
    ],
  ])('end as the task does: %j', async (last, chunks) => {
    expect(await encoded([last])).toEqual(chunks);
  });
});

it('an answer that waits for calls asks for them, and says why', async () => {
  const awaited = (toolCallId: string, needs: string, more: object = {}) => ({
    toolCallId,
    toolName: 'pay',
    input: 1,
    needs,
    ...more,
  });
  const toolCalls = [
    awaited('a', 'approval', { reason: 'Much' }),
    awaited('b', 'approval'),
    awaited('c', 'output'),
  ];
  const waiting = task('INPUT_REQUIRED');
  const message = { messageId: 'q', role: 'ROLE_AGENT', parts: [{ data: { toolCalls } }, { text: 'Words' }] };
  const asked = { ...waiting, status: { ...waiting.status, message } };
  const shown = (toolCallId: string) => ({
    type: 'tool-input-available',
    toolCallId,
    toolName: 'pay',
    input: 1,
    dynamic: true,
  });
  const request = (id: string) => ({ type: 'tool-approval-request', approvalId: id, toolCallId: id });
  expect(await encoded([{ type: 'end', task: asked }])).toEqual([
    shown('a'),
    { ...request('a'), reason: 'Much' },
    shown('b'),
    { ...request('b'), reason: 'Words' },
    shown('c'),
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'tool-calls' },
  ]);
});

it('what a tool asks on behalf of another agent is a question of the user', async () => {
  const toolCalls = [{ toolCallId: 'a', toolName: 'book', input: 1, needs: 'answer' }];
  const { task: waiting } = end('INPUT_REQUIRED', 'Which?') as { task: Task };
  const asked = { data: { toolCalls } };
  waiting.status.message?.parts.push(asked);
  const chunks = await encoded([{ type: 'end', task: waiting }]);
  expect(chunks).toContainEqual({ type: 'text-delta', id: 'last', delta: 'Which?' });
  expect(chunks).toContainEqual(expect.objectContaining({ type: 'data-question' }));
});

describe('a message of a page', () => {
  const message = (...parts: object[]) => ({ id: 'm', role: 'user', parts }) as unknown as UIMessage;

  it('has texts, files and answers for the agent, and nothing else', () => {
    expect(
      partsOf(
        message(
          { type: 'text', text: 'Hi' },
          { type: 'file', url: 'https://a', mediaType: 'image/png', filename: 'a.png' },
          { type: 'file', url: 'data:text/plain;base64,aGk=', mediaType: 'text/plain' },
          { type: 'file', url: 'data:text/plain,hi', mediaType: 'text/plain' },
          { type: 'data-answer', data: { a: 1 } },
          { type: 'step-start' },
        ),
      ),
    ).toEqual([
      { text: 'Hi' },
      { url: 'https://a', mediaType: 'image/png', filename: 'a.png' },
      { raw: 'aGk=', mediaType: 'text/plain' },
      { url: 'data:text/plain,hi', mediaType: 'text/plain' },
      { data: { a: 1 } },
    ]);
  });

  const tool = (toolCallId: string, more: object) => ({
    type: 'dynamic-tool',
    toolName: 'map',
    toolCallId,
    input: {},
    ...more,
  });
  const needs = (toolCallId: string, what: 'approval' | 'output') =>
    ({ toolCallId, toolName: 'map', input: {}, needs: what }) as never;

  it('answers the calls that wait, or is no answer', () => {
    const approval = { id: 'a', approved: true };
    const answered = message(
      { type: 'text', text: 'x' },
      tool('a', { state: 'approval-responded', approval: { ...approval, reason: 'Fine' } }),
      tool('b', { state: 'approval-responded', approval: { ...approval, approved: false } }),
      tool('c', { state: 'output-available', output: 7 }),
      tool('d', { state: 'output-error', errorText: 'No' }),
    );
    const all = [needs('a', 'approval'), needs('b', 'approval'), needs('c', 'output'), needs('d', 'output')];
    expect(answersIn(answered, all)).toEqual({
      a: { approved: true, reason: 'Fine' },
      b: { approved: false },
      c: 7,
      d: { error: 'No', toolName: 'map' },
    });
    expect(answersIn(answered, [])).toEqual({});
    expect(answersIn(answered, [...all, needs('e', 'output')])).toBeUndefined();
    expect(answersIn(answered, [needs('a', 'output')])).toBeUndefined();
    expect(callsIn(answered)).toEqual(['a', 'b', 'c', 'd']);
  });
});
