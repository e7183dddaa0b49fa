import type { AnswerPart } from '@batonjs/client/answers';
import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { runEncoder } from '../src/run-encoder.ts';
import { type AgUiEvent, readRunInput } from '../src/run-input.ts';

const before = [
  { id: 'u', role: 'user', content: 'Hi' },
  {
    id: 'c0',
    role: 'assistant',
    toolCalls: [{ id: 'c0', type: 'function' as const, function: { name: 'old', arguments: '{}' } }],
  },
];

/** The events of these parts of an answer. */
function encoded(parts: readonly unknown[], more: object = {}): AgUiEvent[] {
  const input = readRunInput({ threadId: 't', runId: 'r', messages: [], protocolVersion: '1.0', ...more });
  const encoder = runEncoder({ input, messages: before, answerId: 'a' });
  return (parts as AnswerPart[]).flatMap((part) => [...encoder.encode(part)]);
}

const text = (artifactId: string, delta: string) => ({ type: 'text', artifactId, delta });
const status = (state: string, words?: string) => ({
  state: `TASK_STATE_${state}`,
  ...(words && { message: { messageId: 'last', role: 'ROLE_AGENT', parts: [{ text: words }] } }),
});
const task = (state: string, words?: string, more: object = {}) =>
  ({ id: 'task', contextId: 't', status: status(state, words), ...more }) as Task;
const end = (state: string, words?: string, more: object = {}) => ({
  type: 'end',
  task: task(state, words, more),
});
const finished = (outcome: object, more: object = {}) => ({
  type: 'RUN_FINISHED',
  threadId: 't',
  runId: 'r',
  outcome,
  ...more,
});

it('a run begins with its ids, and its version where the front end has one', () => {
  const startOf = (more: object) =>
    runEncoder({
      input: readRunInput({ threadId: 't', runId: 'r', messages: [], ...more }),
      messages: [],
      answerId: 'a',
    }).start();
  const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' };
  expect(startOf({})).toEqual(start);
  expect(startOf({ protocolVersion: '1.0' })).toEqual({ ...start, protocolVersion: '1.0' });
});

describe('a text', () => {
  it('is a message, from its first piece to its end', () => {
    expect(encoded([text('x', 'He'), text('x', 'llo'), end('COMPLETED')])).toEqual([
      { type: 'TEXT_MESSAGE_START', messageId: 'a-x', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a-x', delta: 'He' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a-x', delta: 'llo' },
      { type: 'TEXT_MESSAGE_END', messageId: 'a-x' },
      finished({ type: 'success' }),
    ]);
  });

  it('of what a model thinks is no message', () => {
    expect(encoded([text('reasoning', 'Hm'), end('COMPLETED')])).toEqual([
      { type: 'REASONING_START', messageId: 'a-reasoning' },
      { type: 'REASONING_MESSAGE_START', messageId: 'a-reasoning', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'a-reasoning', delta: 'Hm' },
      { type: 'REASONING_MESSAGE_END', messageId: 'a-reasoning' },
      { type: 'REASONING_END', messageId: 'a-reasoning' },
      finished({ type: 'success' }),
    ]);
  });

  it('that is replaced is taken back, and no other', () => {
    const replaced = { type: 'replaced', artifactId: 'x', text: 'New' };
    expect(encoded([text('y', 'Other'), text('x', 'Old'), replaced])).toEqual([
      { type: 'TEXT_MESSAGE_START', messageId: 'a-y', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a-y', delta: 'Other' },
      { type: 'TEXT_MESSAGE_START', messageId: 'a-x', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a-x', delta: 'Old' },
      { type: 'TEXT_MESSAGE_END', messageId: 'a-x' },
      { type: 'MESSAGES_SNAPSHOT', messages: before },
      { type: 'TEXT_MESSAGE_START', messageId: 'a-x-2', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a-x-2', delta: 'New' },
    ]);
    expect(encoded([replaced]).map(({ type }) => type)).toEqual([
      'MESSAGES_SNAPSHOT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
    ]);
    const call = { type: 'tool', call: { toolCallId: 'c', toolName: 'map', state: 'called', input: {} } };
    const again = encoded([text('x', 'One'), call, text('x', 'Two'), text('xy', 'Other'), call, replaced]);
    expect(again.find(({ type }) => type === 'MESSAGES_SNAPSHOT')).toMatchObject({
      messages: [{ id: 'u' }, { id: 'c0' }, { id: 'c' }],
    });
  });
});

describe('what an agent does', () => {
  it('is a step, until it does something else', () => {
    const progress = (words: string) => ({
      type: 'progress',
      message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: words }] },
    });
    const activity = (more: object) => ({
      type: 'ACTIVITY_SNAPSHOT',
      messageId: 'task-activity',
      activityType: 'baton-task',
      content: { taskId: 'task', state: 'TASK_STATE_WORKING', ...more },
    });
    const parts = [
      { type: 'task', task: task('WORKING') },
      progress('One'),
      progress(''),
      progress('Two'),
      end('COMPLETED'),
    ];
    expect(encoded(parts)).toEqual([
      activity({}),
      { type: 'STEP_STARTED', stepName: 'One' },
      activity({ text: 'One' }),
      { type: 'STEP_FINISHED', stepName: 'One' },
      { type: 'STEP_STARTED', stepName: 'Two' },
      activity({ text: 'Two' }),
      { type: 'STEP_FINISHED', stepName: 'Two' },
      finished({ type: 'success' }),
    ]);
    expect(encoded([progress('One')])[1]).toEqual({
      ...activity({}),
      messageId: 'r-activity',
      content: { taskId: 'r', state: 'TASK_STATE_WORKING', text: 'One' },
    });
  });

  it('may be a call of a tool, which is shown once, with its result', () => {
    const call = (state: string, more: object = {}) => ({
      type: 'tool',
      call: { toolCallId: 'c', toolName: 'map', state, ...more },
    });
    const shown = [
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'map' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a":1}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
    ];
    const result = (content: string) => ({
      type: 'TOOL_CALL_RESULT',
      messageId: 'c-result',
      toolCallId: 'c',
      content,
      role: 'tool',
    });
    const called = call('called', { input: { a: 1 } });
    expect(encoded([called, call('done', { input: { a: 1 }, output: { b: 2 } })])).toEqual([
      ...shown,
      result('{"b":2}'),
    ]);
    expect(encoded([called, call('done', { output: 'words' })]).at(-1)).toEqual(result('words'));
    expect(encoded([call('done')]).slice(1)).toEqual([
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
      result('null'),
    ]);
    expect(encoded([called, call('failed')]).at(-1)).toEqual(result('failed'));
    expect(encoded([call('called')]).map(({ type, stepName }) => [type, stepName])).toEqual([
      ['STEP_STARTED', 'Calls map'],
      ['ACTIVITY_SNAPSHOT', undefined],
    ]);
    const known = { type: 'tool', call: { toolCallId: 'c0', toolName: 'old', state: 'done', output: 1 } };
    expect(encoded([known]).map(({ type }) => type)).toEqual(['TOOL_CALL_RESULT']);
    expect(encoded([text('x', 'a'), called]).map(({ type }) => type)).toEqual([
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
    ]);
  });

  it('may be data and files, which become state of the front end', () => {
    const content = (artifactId: string, name?: string) => ({
      type: 'content',
      artifact: { artifactId, ...(name && { name }), parts: [{ data: 1 }] },
    });
    const [one, two] = [
      { artifactId: 'a/b~c', name: 'n', parts: [{ data: 1 }] },
      { artifactId: 'd', parts: [{ data: 1 }] },
    ];
    const delta = (path: string, value: object) => ({
      type: 'STATE_DELTA',
      delta: [{ op: 'add', path: `/artifacts/${path}`, value }],
    });
    expect(
      encoded([content('a/b~c', 'n'), content('d')], { state: { own: 1, artifacts: { old: 2 } } }),
    ).toEqual([
      { type: 'STATE_SNAPSHOT', snapshot: { own: 1, artifacts: { old: 2 } } },
      delta('a~1b~0c', one),
      delta('d', two),
    ]);
    for (const state of [undefined, null, 'x', [1], { artifacts: [1] }])
      expect(encoded([content('d')], { state })[0]).toEqual({
        type: 'STATE_SNAPSHOT',
        snapshot: { artifacts: {} },
      });
  });
});

describe('a run ends', () => {
  const words = [
    { type: 'TEXT_MESSAGE_START', messageId: 'last', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'last', delta: 'Words' },
    { type: 'TEXT_MESSAGE_END', messageId: 'last' },
  ];

  it('with the words and the result of its task', () => {
    const artifacts = [
      { artifactId: 'x', parts: [{ data: 0 }] },
      { artifactId: 'y', name: 'result', parts: [{ data: { a: 1 } }] },
    ];
    expect(encoded([end('COMPLETED', 'Words', { artifacts })])).toEqual([
      ...words,
      finished({ type: 'success' }, { result: { a: 1 } }),
    ]);
    const message = { messageId: 'last', role: 'ROLE_AGENT', parts: [{ text: 'Words' }] };
    expect(encoded([{ type: 'end', message }])).toEqual([...words, finished({ type: 'success' })]);
  });

  it.each([
    ['FAILED', 'FAILED', 'The agent failed'],
    ['REJECTED', 'REJECTED', 'The agent does not do this'],
  ])('with an error where it is %s', (state, code, message) => {
    expect(encoded([text('x', 'a'), end(state)]).slice(2)).toEqual([
      { type: 'TEXT_MESSAGE_END', messageId: 'a-x' },
      { type: 'RUN_ERROR', message, code },
    ]);
    expect(encoded([end(state, 'Words')])).toEqual([{ type: 'RUN_ERROR', message: 'Words', code }]);
  });

  it('where it was canceled, with what the front end knows', () => {
    expect(encoded([end('CANCELED')])).toEqual([finished({ type: 'cancelled' })]);
    const old = { protocolVersion: '0.9' };
    expect(encoded([end('CANCELED')], old)).toEqual([
      { type: 'RUN_ERROR', message: 'The task was canceled', code: 'CANCELED' },
    ]);
    expect(encoded([end('CANCELED', 'Words')], old)[0]).toMatchObject({ message: 'Words' });
  });

  it('with what authorizes the agent, after all messages and the state', () => {
    const content = { type: 'content', artifact: { artifactId: 'd', parts: [{ data: 1 }] } };
    const interrupt = { reason: 'baton:auth_required', metadata: { parts: [] } };
    const own = { id: 'last', role: 'assistant', content: 'Words' };
    expect(encoded([content, end('AUTH_REQUIRED', 'Words')]).slice(2)).toEqual([
      ...words,
      { type: 'STATE_SNAPSHOT', snapshot: { artifacts: { d: { artifactId: 'd', parts: [{ data: 1 }] } } } },
      { type: 'MESSAGES_SNAPSHOT', messages: [...before, own] },
      finished({ type: 'interrupt', interrupts: [{ ...interrupt, id: 'last', message: 'Words' }] }),
    ]);
    expect(encoded([end('AUTH_REQUIRED')])).toEqual([
      { type: 'MESSAGES_SNAPSHOT', messages: before },
      finished({ type: 'interrupt', interrupts: [{ ...interrupt, id: 'task' }] }),
    ]);
  });

  it('with a plain question in success: the next message answers it', () => {
    expect(encoded([end('INPUT_REQUIRED', 'Words')])).toEqual([...words, finished({ type: 'success' })]);
    const [, said] = encoded([end('INPUT_REQUIRED')]);
    expect(said).toMatchObject({ messageId: 'task', delta: 'The agent waits for an answer.' });
  });
});
