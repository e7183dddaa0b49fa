import type { Message, Part, Task } from '@batonjs/protocol';
import { type Turn, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import {
  assistantMessage,
  type HistoryOptions,
  historyOf,
  isAboutTools,
  type Kept,
  keeping,
  keptBy,
  userMessage,
} from '../../src/history/task-messages.ts';
import { AI_SDK } from '../../src/metadata.ts';

const user = (messageId: string, text = messageId): Message => ({
  messageId,
  role: 'ROLE_USER',
  parts: [{ text }],
});

const agent = (text: string, more: Partial<Message> = {}): Message => ({
  ...user(`agent ${text}`, text),
  role: 'ROLE_AGENT',
  ...more,
});

const given = { files: 0, sources: [], texts: {} };

/** What the questions of these tests have kept. */
const remembered: Record<string, unknown> = {};

const remembering = (values: Readonly<Record<string, unknown>>) =>
  ({ get: (key: string) => structuredClone(values[key]) }) as Turn['memory'];

/** A question that kept this; `until` is the message `one`, unless it is given. */
function question(kept: Partial<Kept>): Message {
  const asked = { ...agent('asked', { metadata: { [AI_SDK]: {} } }), messageId: crypto.randomUUID() };
  const whole = { messages: [], pending: [], until: 'one', given, ...kept };
  Object.assign(remembered, keeping(working(), asked, whole).memory);
  return asked;
}

const calls = (...ids: string[]) => ({
  role: 'assistant' as const,
  content: ids.map((toolCallId) => ({ type: 'tool-call' as const, toolCallId, toolName: 'look', input: {} })),
});

const waits = (needs: 'approval' | 'output' | 'answer', toolCallId = 'c', more: object = {}) => ({
  toolCallId,
  toolName: 'look',
  input: {},
  needs,
  ...more,
});

/** The history of a turn that began with the message of this id, the last one by default. */
function historyFor(
  messages: readonly Message[],
  current = messages.at(-1)!,
  options: Partial<HistoryOptions> = {},
  tasks: readonly Task[] = [],
) {
  const context = { tasks: async () => [...tasks] };
  const turn = { messages, message: current, context, memory: remembering(remembered) };
  return historyOf(turn as unknown as Turn, { tasks: 0, artifact: 'answer', ...options });
}

/** One line for each message: its role, then its texts, calls and results. */
async function linesOf(...given: Parameters<typeof historyFor>): Promise<string[]> {
  const { messages } = await historyFor(...given);
  return messages.map(({ role, content }) => {
    const parts = typeof content === 'string' ? [content] : content.map((part) => lineOf(part));
    return `${role}: ${parts.join(' + ')}`;
  });
}

function lineOf(part: object): string {
  const { type, text, toolCallId, approvalId, approved } = part as Record<string, string>;
  if (text !== undefined) return text;
  return [type, approvalId ?? toolCallId, approved].filter((each) => each !== undefined).join(' ');
}

describe('a model reads of its task', () => {
  it('what was said, and what the agent said of its tools to nobody', async () => {
    const about = agent('Calls look', { metadata: { [AI_SDK]: {} } });
    const child = agent('Asked another', { referenceTaskIds: ['other'] });
    const other = agent('And this', { referenceTaskIds: [], metadata: { other: 1 } });
    expect(await linesOf([user('one'), about, child, agent('Said'), other, user('two')])).toEqual([
      'user: one',
      'assistant: Said',
      'assistant: And this',
      'user: two',
    ]);
  });

  it('no messages of the agent without words, and none that come after the turn began', async () => {
    const messages = [user('one'), agent('', { parts: [] }), user('two'), user('three')];
    expect(await linesOf(messages, messages[2])).toEqual(['user: one', 'user: two']);
  });

  it('the messages that the last question took, in a turn that no message began', async () => {
    const asked = question({ pending: [waits('approval')], messages: [calls('c')], until: 'one' });
    expect(await linesOf([user('one'), user('two'), asked, user('three')], user('gone'))).toEqual([
      'user: one',
      'assistant: tool-call c',
      'tool: tool-approval-response c false',
    ]);
  });

  it('the messages that a question did not answer before it, and then the answers', async () => {
    const asked = question({ pending: [waits('approval')], messages: [calls('c')], until: 'one' });
    expect(await linesOf([user('one'), user('meanwhile'), asked, user('yes')])).toEqual([
      'user: one',
      'user: meanwhile',
      'assistant: tool-call c',
      'tool: tool-approval-response c true',
    ]);
  });

  it('what was said while it asked only before its last answer', async () => {
    const messages = [{ role: 'assistant' as const, content: 'Let me see' }, calls('c')];
    const asked = question({ pending: [waits('output')], messages, until: 'one' });
    expect(await linesOf([user('one'), user('meanwhile'), asked, user('7')])).toEqual([
      'user: one',
      'assistant: Let me see',
      'user: meanwhile',
      'assistant: tool-call c',
      'tool: tool-result c',
    ]);
    const none = question({ messages: [{ role: 'tool', content: [] }], until: 'one' });
    expect(await linesOf([user('one'), user('meanwhile'), none, user('7')])).toEqual([
      'user: one',
      'user: meanwhile',
      'tool: ',
      'user: 7',
    ]);
  });

  it('nothing else that the agent said while it waited', async () => {
    const asked = question({ pending: [waits('approval')], messages: [calls('c')], until: 'one' });
    expect(await linesOf([user('one'), asked, agent('Still waiting'), user('yes')])).toEqual([
      'user: one',
      'assistant: tool-call c',
      'tool: tool-approval-response c true',
    ]);
  });

  it('only the latest of two questions as waiting', async () => {
    const more = { files: 1, sources: [], texts: {} };
    const first = question({ pending: [waits('output')], messages: [calls('c')], given: more });
    const second = question({
      messages: [{ role: 'assistant', content: 'Which?' }],
      until: 'two',
    });
    const history = await historyFor([user('one'), first, user('two'), second, user('three')]);
    expect(history.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(history.given).toEqual({ files: 0, sources: [], texts: {} });
  });

  it('the calls that wait for another agent as approved, with their names', async () => {
    const message = { role: 'assistant' as const, content: 'text' };
    const pending = [waits('answer', 'c', { call: 'named' }), waits('answer', 'd'), waits('approval', 'e')];
    const given = { files: 2, sources: [{}], texts: { answer: 3 } };
    const messages = [
      user('one'),
      question({ pending, messages: [message, calls('c', 'd', 'e')], given }),
      user('yes'),
    ];
    const history = await historyFor(messages);
    expect([...history.resumed]).toEqual([
      ['c', 'named'],
      ['d', 'd'],
    ]);
    expect(history.given).toEqual(given);
    expect((await linesOf(messages)).slice(2)).toEqual([
      'assistant: tool-call c + tool-call d + tool-call e + tool-approval-request c + tool-approval-request d',
      'tool: tool-approval-response c true + tool-approval-response d true + tool-approval-response e false',
    ]);
  });
});

describe('a model reads of its context', () => {
  const task = (id: string, state: string, more: object = {}): Task =>
    ({
      id,
      contextId: 'context',
      status: { state: `TASK_STATE_${state}` },
      history: [user(`${id}?`), agent(`Calls a tool for ${id}`)],
      artifacts: [{ artifactId: 'answer', parts: [{ text: `${id}!` }] }],
      ...more,
    }) as Task;

  it('what was asked and given in the newest tasks that are complete', async () => {
    const tasks = [
      task('one', 'COMPLETED'),
      task('two', 'FAILED'),
      task('three', 'COMPLETED'),
      task('four', 'WORKING'),
      task('five', 'COMPLETED', { artifacts: undefined }),
    ];
    expect(await linesOf([user('now')], undefined, { tasks: 2 }, tasks)).toEqual([
      'user: three?',
      'assistant: three!',
      'user: five?',
      'user: now',
    ]);
    expect(await linesOf([user('now')], undefined, { tasks: 0 }, tasks)).toEqual(['user: now']);
    const bare = task('one', 'COMPLETED', { history: undefined });
    expect(await linesOf([user('now')], undefined, { tasks: 1 }, [bare])).toEqual([
      'assistant: one!',
      'user: now',
    ]);
  });

  it('nothing of what a new version of a message took the place of', async () => {
    const edited = (id: string, replaces: string): Message => ({
      ...user(id),
      metadata: { 'https://a-front-end.example': { replaces } },
    });
    const said = (...history: Message[]) => task(history.at(-1)!.messageId, 'COMPLETED', { history });
    const tasks = [said(user('one')), said(user('two'), user('three')), said(user('four'))];
    const linesAfter = (...messages: Message[]) => linesOf(messages, undefined, { tasks: 9 }, tasks);
    expect(await linesAfter(edited('now', 'three'))).toEqual([
      'user: one',
      'assistant: one!',
      'user: two',
      'user: now',
    ]);
    expect(await linesAfter(edited('now', 'two'))).toEqual(['user: one', 'assistant: one!', 'user: now']);
    expect(await linesAfter(edited('now', 'unknown'))).toHaveLength(8);
  });

  it('no reasoning and no sources, unless they are the answer', async () => {
    const artifacts = ['reasoning', 'sources', 'other'].map((artifactId) => ({
      artifactId,
      parts: [{ text: artifactId }],
    }));
    const tasks = [task('one', 'COMPLETED', { artifacts })];
    const given = async (artifact: string) =>
      (await linesOf([user('now')], undefined, { tasks: 1, artifact }, tasks))[1];
    expect(await given('answer')).toBe('assistant: other');
    expect(await given('sources')).toBe('assistant: sources\n\nother');
  });
});

describe('what is kept', () => {
  const kept: Kept = { messages: [calls('c')], pending: [waits('output')], until: 'one', given };
  const asked = agent('x');

  it('is in the memory of the task, where its message finds it, and no other', () => {
    const { memory = {}, ...update } = keeping(working(asked), asked, kept);
    expect(update).toEqual(working(asked));
    expect(keptBy(asked, remembering(memory))).toEqual(kept);
    expect(keptBy(agent('y'), remembering(memory))).toBeUndefined();
  });

  it('is a copy', () => {
    const sources = [{ url: 'a' }];
    const { memory = {} } = keeping(working(), asked, { ...kept, given: { ...given, sources } });
    sources.push({ url: 'b' });
    expect(keptBy(asked, remembering(memory))).toMatchObject({ given: { sources: [{ url: 'a' }] } });
  });

  it('is nothing that the metadata of a message says', async () => {
    const forged = agent('asked', { metadata: { [AI_SDK]: { kept } } as never });
    expect(await linesOf([user('one'), forged, user('yes')])).toEqual(['user: one', 'user: yes']);
  });

  it('is nothing that a message of the user finds with the id of a question', async () => {
    const asked = question({ messages: [calls('c')] });
    const again = { ...user('two'), messageId: asked.messageId };
    expect(await linesOf([user('one'), again])).toEqual(['user: one', 'user: two']);
  });

  it('stands where the agent writes about its tools', () => {
    const message = (metadata?: object) => ({ ...agent('x'), ...(metadata && { metadata }) }) as Message;
    expect(
      [undefined, {}, { other: 1 }, { [AI_SDK]: {} }].map((each) => isAboutTools(message(each))),
    ).toEqual([false, false, false, true]);
  });
});

describe('the content of a message', () => {
  it.each<[string, Part, object]>([
    ['a text', { text: 'a', mediaType: 'text/plain' }, { type: 'text', text: 'a' }],
    ['data', { data: { a: 1 } }, { type: 'text', text: '{"a":1}' }],
    [
      'bytes',
      { raw: 'aGk=', mediaType: 'image/png', filename: 'a.png' },
      { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png', filename: 'a.png' },
    ],
    [
      'bytes without a type',
      { raw: 'aGk=' },
      { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'application/octet-stream' },
    ],
    [
      'an address',
      { url: 'https://a.example/b' },
      {
        type: 'file',
        data: { type: 'url', url: new URL('https://a.example/b') },
        mediaType: 'application/octet-stream',
      },
    ],
    ['an address that is none', { url: 'b.png' }, { type: 'text', text: 'b.png' }],
  ])('that is %s', (_what, part, content) => {
    expect(userMessage({ parts: [part] })).toStrictEqual({ role: 'user', content: [content] });
    expect(assistantMessage([part])).toStrictEqual({ role: 'assistant', content: [content] });
  });

  it('is nothing without parts', () => {
    expect(userMessage({ parts: [] })).toBeUndefined();
    expect(assistantMessage()).toBeUndefined();
    expect(assistantMessage([], [{ text: '' }])).toBeUndefined();
    expect(userMessage({ parts: [{ text: '' }] })).toEqual({
      role: 'user',
      content: [{ type: 'text', text: '' }],
    });
  });

  it('of an agent is one text, with an empty line between two of its artifacts', () => {
    const file = { raw: 'aGk=', mediaType: 'image/png' };
    const given = assistantMessage(
      [{ text: '' }, { text: 'a' }, { text: '' }, { text: 'b' }],
      [{ text: '' }, { text: 'c' }, { data: 1 }],
      [file, { text: 'd' }],
      [{ text: 'e' }],
    );
    expect(
      (given!.content as { type: string; text?: string }[]).map(({ type, text }) => text ?? type),
    ).toEqual(['ab\n\nc1', 'file', 'd\n\ne']);
  });
});
