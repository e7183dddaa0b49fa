import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import type { Message, Part, Task, TaskState } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { questionOf } from '../../src/dispatch/report.ts';
import { resultOf, resultOfMessage } from '../../src/dispatch/result.ts';
import {
  assignmentIn,
  isFinal,
  noteIn,
  noteMessage,
  reportOf,
  statesOf,
  statusIn,
  transitionIn,
} from '../../src/tasks/gateway-task.ts';

const at = '2026-01-01T00:00:00.000Z';
const said = (...parts: Part[]): Message => ({ messageId: 'm', role: 'ROLE_AGENT', parts });
const status = (state: string, message?: Message) => ({
  state: `TASK_STATE_${state}` as TaskState,
  timestamp: at,
  ...(message && { message }),
});

describe('what a status of A2A is here', () => {
  const note = {
    progress: 50,
    result: { a: 1 },
    error: { code: 'X', message: 'x' },
    form: { formId: 'f', schema: {} },
  };
  const noted = noteMessage('', note);
  const internal = { code: 'INTERNAL_ERROR', message: 'The task failed' };
  const data = (value: unknown) => said({ text: 'x' }, { data: value } as Part);

  it.each<[string, Message | undefined, object]>([
    ['SUBMITTED', noted, { status: 'created' }],
    ['WORKING', undefined, { status: 'in_progress' }],
    ['WORKING', noted, { status: 'in_progress', progress: 50, result: { a: 1 }, form: note.form }],
    ['WORKING', noteMessage('', { progress: 0 }), { status: 'in_progress', progress: 0 }],
    ['INPUT_REQUIRED', undefined, { status: 'in_progress' }],
    ['AUTH_REQUIRED', noteMessage('', { form: note.form }), { status: 'in_progress', form: note.form }],
    ['COMPLETED', noted, { status: 'completed', result: { a: 1 } }],
    ['COMPLETED', undefined, { status: 'completed', result: {} }],
    ['COMPLETED', noteMessage('', { result: 0 }), { status: 'completed', result: 0 }],
    ['COMPLETED', noteMessage('Sent', note), { status: 'completed', result: { a: 1 }, message: 'Sent' }],
    [
      'COMPLETED',
      noteMessage('Sent', { result: { text: 'Sent' } }),
      { status: 'completed', result: { text: 'Sent' } },
    ],
    ['WORKING', noteMessage('Half', {}), { status: 'in_progress' }],
    ['FAILED', noted, { status: 'failed', result: { a: 1 }, error: note.error }],
    ['REJECTED', noted, { status: 'failed', result: { a: 1 }, error: note.error }],
    ['CANCELED', noteMessage('Late', note), { status: 'canceled', result: { a: 1 }, message: 'Late' }],
    ['FAILED', undefined, { status: 'failed', error: internal }],
    ['FAILED', said({ text: 'x' }), { status: 'failed', error: internal }],
    ['FAILED', data(null), { status: 'failed', error: internal }],
    ['FAILED', data({ code: 'A', message: 'a' }), { status: 'failed', error: { code: 'A', message: 'a' } }],
    ['FAILED', data({ code: 'A' }), { status: 'failed', error: internal }],
    ['FAILED', data({ message: 'a' }), { status: 'failed', error: internal }],
    ['FAILED', data({ code: 1, message: 'a' }), { status: 'failed', error: internal }],
    [
      'FAILED',
      data({ code: 'DEADLINE_EXCEEDED' }),
      { status: 'failed', error: { code: 'TIMEOUT', message: 'The task took too long' } },
    ],
  ])('%s with %j', (state, message, expected) => {
    const report = reportOf(status(state, message), 7);
    expect(report).toStrictEqual({ ...expected, sequence: 7 });
    expect(isFinal(report)).toBe(/^(completed|failed|canceled)$/.test(report.status));
  });

  it('stands for these states', () => {
    const states = (['created', 'in_progress', 'completed', 'failed', 'canceled'] as const).map(statesOf);
    expect(states).toEqual([
      ['TASK_STATE_SUBMITTED'],
      ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'],
      ['TASK_STATE_COMPLETED'],
      ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'],
      ['TASK_STATE_CANCELED'],
    ]);
  });

  it('is in a fact that sets it', () => {
    const fact = (more: object) => ({ format: FACT_FORMAT, at, ...more }) as Fact;
    const changed = fact({ type: 'status-changed', status: status('WORKING', said({ text: 'Half' })) });
    const created = fact({ type: 'task-created', taskId: 't', contextId: 'c' });
    const received = fact({ type: 'message-received', message: said() });
    expect([changed, created, received].map(statusIn)).toEqual([
      status('WORKING', said({ text: 'Half' })),
      status('SUBMITTED'),
      undefined,
    ]);
    expect([changed, created, received].map((one) => transitionIn(one, 3))).toStrictEqual([
      { status: 'in_progress', sequence: 3, time: at, message: 'Half' },
      { status: 'created', sequence: 3, time: at },
      undefined,
    ]);
  });
});

it.each<[Message, object]>([
  [
    { ...said({ data: { a: 1 } }), contextId: 'work' },
    { taskId: 'm', type: 'work', data: { a: 1 } },
  ],
  [said({ text: 'x' }), { taskId: 'm', type: '', data: {} }],
  [said(), { taskId: 'm', type: '', data: {} }],
])('the assignment in %j', (message, expected) => {
  expect(assignmentIn(message)).toEqual(expected);
});

describe('a note', () => {
  it('comes back as it was kept, beside the text', () => {
    const message = noteMessage('Half', { progress: 50, agentTaskId: 'a' });
    expect(message).toEqual({
      messageId: expect.stringMatching(/^[\da-f-]{36}$/),
      role: 'ROLE_AGENT',
      parts: [{ text: 'Half' }],
      metadata: { 'https://batonjs.dev/task-gateway/v1': { progress: 50, agentTaskId: 'a' } },
    });
    expect(noteIn(message)).toEqual({ progress: 50, agentTaskId: 'a' });
    expect(noteMessage('', { agentTaskId: undefined as never })).toMatchObject({
      parts: [{ data: {} }],
      metadata: { 'https://batonjs.dev/task-gateway/v1': {} },
    });
  });

  it.each([undefined, said(), { ...said(), metadata: { other: 1 } }])('is empty in %j', (message) => {
    expect(noteIn(message)).toEqual({});
  });
});

describe('the result of', () => {
  const artifact = (name: string | undefined, ...parts: Part[]) => ({
    artifactId: 'a',
    ...(name && { name }),
    parts,
  });
  const one = { data: { n: 1 } } as Part;
  const two = { data: { n: 2 } } as Part;
  const file = { url: 'https://x.example/a', mediaType: 'text/plain' } as Part;

  it.each<[string, object[] | undefined, Part[], unknown]>([
    ['nothing', undefined, [], {}],
    ['nothing but words', [], [{ text: 'Done' }], { text: 'Done' }],
    ['the data of its only artifact', [artifact('x', one)], [{ text: 'Done' }], { n: 1 }],
    ['the data of its artifact `result`', [artifact('x', one), artifact('result', two)], [], { n: 2 }],
    ['data of several artifacts', [artifact('x', one), artifact('y', two)], [], { parts: [one, two] }],
    ['text', [artifact('x', { text: 'a' })], [{ text: 'Done' }], { text: 'a' }],
    ['several texts', [artifact('x', { text: 'a' }), artifact('y', { text: 'b' })], [], { text: 'a\n\nb' }],
    ['an empty text', [artifact('x', { text: '' })], [{ text: 'Done' }], { text: 'Done' }],
    ['a file', [artifact('x', file)], [{ text: 'Done' }], { parts: [file] }],
    [
      'a text and a file',
      [artifact('x', { text: 'a' }, file)],
      [],
      { text: 'a', parts: [{ text: 'a' }, file] },
    ],
  ])('a task with %s', (_, artifacts, words, expected) => {
    const task = {
      id: 't',
      contextId: 'c',
      status: status('COMPLETED', said(...words)),
      ...(artifacts && { artifacts }),
    };
    expect(resultOf(task as Task)).toStrictEqual(expected);
  });

  it.each<[Part[], unknown]>([
    [[one], { n: 1 }],
    [[{ text: 'a' }], { text: 'a' }],
    [[file], { parts: [file] }],
    [[{ text: 'a' }, file], { text: 'a', parts: [{ text: 'a' }, file] }],
  ])('a message with %j', (parts, expected) => {
    expect(resultOfMessage(said(...parts))).toStrictEqual(expected);
  });
});

describe('the question of a task', () => {
  const schema = {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  };
  const asking = (message?: Message) =>
    ({ id: 't', contextId: 'c', status: status('AUTH_REQUIRED', message) }) as Task;

  it.each<[string, Message | undefined, object]>([
    ['words', said({ text: 'How much?' }), { formId: 'm', title: 'How much?', schema }],
    ['nothing', undefined, { formId: 't', title: 'The agent asks', schema }],
    ['no text', said({ data: {} } as Part), { formId: 'm', title: 'The agent asks', schema }],
    ['a message without id', { ...said({ text: 'a' }), messageId: '' }, { formId: 't', title: 'a', schema }],
  ])('in %s is a form with one field', (_, message, form) => {
    expect(questionOf(asking(message))).toEqual({ form, isPlain: true });
  });
});
