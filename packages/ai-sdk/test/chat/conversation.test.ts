import type { ChatStatus, UIMessage } from 'ai';
import { expect, it } from 'vitest';
import { conversationOf } from '../../src/chat.ts';

type Parts = UIMessage['parts'];

const said = (id: string, role: UIMessage['role'], ...parts: object[]): UIMessage => ({
  ...{ id, role },
  parts: parts as Parts,
});
const text = (text: string) => ({ type: 'text', text });
const user = (id = 'u', ...parts: object[]) => said(id, 'user', ...(parts.length > 0 ? parts : [text('Go')]));
const task = (state: string, more: object = {}) => ({
  type: 'data-task',
  data: { id: 't', state: `TASK_STATE_${state}`, ...more },
});
const tool = (id: string, state: string, more: object = {}) => ({
  ...{ type: 'dynamic-tool', toolName: `tool ${id}`, toolCallId: id, state, input: { of: id } },
  ...more,
});
const asks = (id: string, requestReason?: string) =>
  tool(id, 'approval-requested', { approval: { id: `approval ${id}`, requestReason } });
const form = { formId: 'f', schema: { type: 'object' } };
const question = (words: string, more: object = {}) => ({
  type: 'data-question',
  data: { taskId: 't', state: 'TASK_STATE_INPUT_REQUIRED', text: words, ...more },
});

/** A chat at rest, unless it has another status, and what was called of it. */
function chatOf(messages: UIMessage[], status: ChatStatus = 'ready', error?: Error) {
  const calls: unknown[] = [];
  const called = (name: string) => async (value?: unknown) => void calls.push([name, value]);
  const chat = {
    ...{ id: 'c', messages, status, error, stop: called('stop') },
    ...{ sendMessage: called('send'), addToolApprovalResponse: called('approve') },
  };
  return { calls, chat, talk: conversationOf(chat) };
}

/** The last task for a question and these parts of its answer. */
const answered = (parts: object[], ...how: [status?: ChatStatus, error?: Error]) =>
  chatOf([user(), said('a', 'assistant', ...parts)], ...how).talk.tasks.at(-1)!;

const broken = new Error('Broken');

it.each<[string, object[], [ChatStatus?, Error?], string, unknown[]]>([
  ['text', [text('Hi')], [], 'COMPLETED', []],
  ['a stream', [text('H')], ['streaming'], 'WORKING', []],
  ['progress', [task('WORKING', { text: 'Looks' })], ['streaming'], 'WORKING', [{ text: 'Looks' }]],
  ['an answer to an approval', [asks('x')], ['submitted'], 'WORKING', []],
  [
    'what failed',
    [task('FAILED', { text: 'No paper' })],
    ['error', broken],
    'FAILED',
    [{ text: 'No paper' }],
  ],
  ['what failed before a reload', [task('FAILED', { text: 'No' })], [], 'FAILED', [{ text: 'No' }]],
  ['what was rejected', [task('REJECTED')], [], 'REJECTED', []],
  ['what was canceled', [task('CANCELED')], [], 'CANCELED', []],
  ['what broke off', [task('WORKING')], ['error', broken], 'FAILED', [{ text: 'Broken' }]],
  ['what was left', [task('WORKING', { text: 'Looks' })], [], 'COMPLETED', []],
  ['words', [text('Which?'), question('Which?')], [], 'INPUT_REQUIRED', [{ text: 'Which?' }]],
  ['a login', [question('', { state: 'TASK_STATE_AUTH_REQUIRED' })], [], 'AUTH_REQUIRED', []],
  [
    ...(['a form', [text('How?'), question('How?', { form })], [], 'INPUT_REQUIRED'] as const),
    [{ text: 'How?' }, { data: form, mediaType: 'application/vnd.batonjs.form+json' }],
  ],
  [
    ...(['calls', [asks('x', 'Why'), asks('y', 'Why'), tool('z', 'output-available')], []] as const),
    ...(['INPUT_REQUIRED', [{ text: 'Why' }, { data: { toolCalls: [call('x'), call('y')] } }]] as const),
  ],
] as never)('the task of %s', (_, parts, how, state, status) => {
  const shown = answered(parts, ...how);
  expect(shown.status.state).toBe(`TASK_STATE_${state}`);
  expect(shown.status.message?.parts ?? []).toEqual(status);
});

function call(id: string) {
  return { toolCallId: id, toolName: `tool ${id}`, state: '', input: { of: id }, needs: 'approval' };
}

it.each<[object, object[]]>([
  [text('Hi'), [{ text: 'Hi' }]],
  [text(''), []],
  [{ type: 'step-start' }, []],
  [{ type: 'file', url: 'data:a/b;base64,aGk=', mediaType: 'a/b' }, [{ raw: 'aGk=', mediaType: 'a/b' }]],
  [{ type: 'data-artifact', data: { artifactId: 'x', name: 'n', data: 0 } }, [{ data: 0 }]],
  [{ type: 'data-other', data: { data: 1 } }, []],
])('the part %j is %j', (part, parts) => {
  const [made] = answered([part]).artifacts ?? [];
  expect(made?.parts ?? []).toEqual(parts);
  expect(made?.name).toBe(JSON.stringify(part).includes('"name"') ? 'n' : undefined);
});

it('shows what a model thought as one, and a question once', () => {
  const thought = (text: string) => ({ type: 'reasoning', text });
  const { artifacts } = answered([
    thought('Hm'),
    text('First'),
    thought('So'),
    text('Why?'),
    question('Why?'),
  ]);
  expect(artifacts).toEqual([
    { artifactId: 'reasoning', parts: [{ text: 'Hm\n\nSo' }] },
    { artifactId: '1', parts: [{ text: 'First' }] },
  ]);
});

it('has a call of a tool as an agent shows it, but not the one that is asked about', () => {
  const parts = [
    { ...tool('a', 'input-available'), type: 'tool-find', toolName: undefined },
    ...[tool('b', 'output-available', { output: 3 }), tool('c', 'output-error', { errorText: 'No' })],
    ...[tool('d', 'output-denied'), asks('e')],
  ];
  const shown = answered(parts)
    .history?.slice(1)
    .map(({ parts: [part] }) => Object(part).data);
  expect(shown?.map(({ toolName, state, output }) => [toolName, state, output])).toEqual([
    ...[
      ['find', 'called', undefined],
      ['tool b', 'done', 3],
    ],
    ...[
      ['tool c', 'failed', 'No'],
      ['tool d', 'denied', undefined],
    ],
  ]);
  // While the answer to it is on its way, it is a call as the others.
  expect(answered(parts, 'submitted').history).toHaveLength(6);
});

it('joins each message of the user with its answer, and shows a past question as text', () => {
  const asked = [text('Which?'), question('Which?')];
  const messages = [
    ...[said('s', 'system', text('Be nice')), said('hello', 'assistant', text('Hello'))],
    ...[user('u1'), said('a1', 'assistant', ...asked), user('u2', { type: 'data-answer', data: { x: 1 } })],
  ];
  const { talk, chat } = chatOf(messages, 'submitted');
  expect(talk.tasks.map(({ id, status }) => [id, status.state])).toEqual([
    ...[
      ['hello', 'TASK_STATE_COMPLETED'],
      ['u1', 'TASK_STATE_COMPLETED'],
      ['u2', 'TASK_STATE_WORKING'],
    ],
  ]);
  expect(talk.tasks[1]!.artifacts?.map(({ parts }) => parts)).toEqual([[{ text: 'Which?' }]]);
  expect(talk.tasks[2]!.history?.[0]?.parts).toEqual([{ data: { x: 1 } }]);
  expect([talk.current?.id, talk.contextId, chatOf([]).talk.contextId]).toEqual(['u2', 'c', undefined]);
  // What is past is the same object, so that a chunk renders the last task only.
  const next = conversationOf({ ...chat, messages: [...messages, said('a2', 'assistant', text('I'))] });
  expect(next.tasks.map((task, index) => task === talk.tasks[index])).toEqual([true, true, false]);
});

it.each<[ChatStatus, string]>([
  ['streaming', 'reconnecting'],
  ['ready', 'connected'],
])('an answer that is %s on a broken connection is %s', (status, connection) => {
  const parts = [task('WORKING', { connection: 'reconnecting' })];
  expect(chatOf([user(), said('a', 'assistant', ...parts)], status).talk.connection).toBe(connection);
});

it('sends a message that did not arrive again as the same, and another one as new', async () => {
  const { talk, calls } = chatOf([user('u1'), user('u2')], 'error', broken);
  const { message, state, error } = talk.sent[0]!;
  expect([talk.tasks.map(({ id }) => id), message.messageId, state, error]).toEqual([
    ['u1'],
    'u2',
    'failed',
    broken,
  ]);
  expect(talk.current).toBeUndefined();
  await talk.send(message);
  await talk.send({ parts: [{ text: 'Go' }, { url: 'https://a', mediaType: 'a/b', filename: 'f' }] });
  const file = { type: 'file', url: 'https://a', mediaType: 'a/b', filename: 'f' };
  expect(calls).toEqual([
    ['send', undefined],
    ['send', { parts: [text('Go'), file] }],
  ]);
});

it('answers calls by their approvals, and other questions by a message', async () => {
  const asked = chatOf([user(), said('a', 'assistant', asks('x'), asks('y'), asks('z'))]);
  await asked.talk.answer({ x: { approved: true }, y: { approved: false } });
  const decided = (id: string, approved: boolean) => ['approve', { id: `approval ${id}`, approved }];
  expect(asked.calls).toEqual([decided('x', true), decided('y', false), decided('z', false)]);
  const { talk, calls } = chatOf([user(), said('a', 'assistant', question('How?', { form }))]);
  await talk.answer({ fast: true });
  expect(calls).toEqual([['send', { parts: [{ type: 'data-answer', data: { fast: true } }] }]]);
});

it.each([true, false])('stops at the agent, or only reading if nothing ran there: %s', async (wasRunning) => {
  const { calls, chat } = chatOf([user()], 'submitted');
  await conversationOf(chat, { cancel: async (id) => wasRunning && id === 'c' }).cancel();
  expect(calls).toEqual(wasRunning ? [] : [['stop', undefined]]);
});
