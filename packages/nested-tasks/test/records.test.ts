import { createHash } from 'node:crypto';
import type { AgentEvent } from '@batonjs/client';
import type { Message, Part, Task, TaskState } from '@batonjs/protocol';
import type { TaskUpdate } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { childIn, derivedId } from '../src/children/child-record.ts';
import { answerTo, passedOn } from '../src/children/messages.ts';
import { relayAll, relayProgress } from '../src/children/relay.ts';
import { UpdateQueue } from '../src/turn/turn-calls.ts';

describe('a child in the log', () => {
  it('is found by its own name only', () => {
    const child = { agent: 'A' };
    expect(childIn({ a: child }, 'a')).toBe(child);
    for (const name of ['b', 'toString', '']) expect(childIn({ a: child }, name)).toBeUndefined();
  });

  it('has ids of 128 bits that every release derives alike', () => {
    const hash = createHash('sha256').update('["nested-tasks","t","a","message"]').digest('hex');
    expect(derivedId('t', 'a', 'message')).toBe(hash.slice(0, 32));
    const ids = [
      derivedId('t'),
      derivedId('t', 'a'),
      derivedId('u', 'a'),
      derivedId('t', 'a', 'b'),
      derivedId('t', 'ab'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

const text: Part = { text: 'Hi' };
const said = (parts: Part[], more: Partial<Message> = {}): Message => ({
  messageId: 'm',
  role: 'ROLE_AGENT',
  parts,
  ...more,
});
const at = (state: string, message?: Message, more: Partial<Task> = {}): Task => ({
  id: 'there',
  contextId: 'c',
  status: { state: `TASK_STATE_${state}` as TaskState, timestamp: 'now', ...(message && { message }) },
  ...more,
});

describe('a message', () => {
  it.each<[string, Message | undefined, object]>([
    ['is passed on', said([text]), { parts: [text] }],
    [
      'keeps its extensions, and nothing else',
      said([text], { extensions: ['x'], metadata: { a: 1 } }),
      { parts: [text], extensions: ['x'] },
    ],
    ['without parts asks', said([]), { parts: [{ text: 'Another agent asks for an answer' }] }],
    ['that is none asks', undefined, { parts: [{ text: 'Another agent asks for an answer' }] }],
  ])('of a child %s', (_, message, expected) => {
    const whole = { messageId: 'own', role: 'ROLE_AGENT', referenceTaskIds: ['there'], ...expected };
    expect(passedOn(at('WORKING', message), 'own')).toEqual(whole);
    expect(passedOn(at('WORKING'), 'own', message)).toEqual(whole);
  });

  const form = said([
    { data: { formId: 'f', schema: { type: 'object' } }, mediaType: 'application/json' } as Part,
  ]);
  it.each<[Part[], unknown]>([
    [[text], { parts: [text] }],
    [[text, { data: { a: 1 } } as Part], { parts: [text, { data: { a: 1 } }] }],
    [[{ data: { formId: 'f', values: {} } } as Part], { parts: [{ data: { formId: 'f', values: {} } }] }],
    [[], { parts: [] }],
  ])('%j answers as it is', (parts, expected) => {
    expect(answerTo(at('INPUT_REQUIRED', form), said(parts))).toEqual(expected);
  });
});

describe('an event of a child', () => {
  const artifact = { artifactId: 'a', parts: [text] };
  const update = (more: object = {}) =>
    ({ artifactUpdate: { taskId: 't', contextId: 'c', artifact, ...more } }) as AgentEvent;
  const status = (task: Task) =>
    ({ statusUpdate: { taskId: 't', contextId: 'c', status: task.status } }) as AgentEvent;
  const working = at('WORKING', said([text]));
  const progress = expect.objectContaining({
    status: expect.objectContaining({ message: expect.objectContaining({ parts: [text] }) }),
  });

  it.each<[string, AgentEvent, unknown, unknown]>([
    ['a task at work', { task: working }, progress, [progress]],
    [
      'a task with artifacts',
      { task: { ...working, artifacts: [artifact] } },
      progress,
      [{ artifact }, progress],
    ],
    [
      'a task without words',
      { task: at('WORKING', undefined, { artifacts: [artifact] }) },
      undefined,
      [{ artifact }],
    ],
    ['a status', status(working), progress, [progress]],
    ['a status without parts', status(at('WORKING', said([]))), undefined, []],
    ['a question', status(at('INPUT_REQUIRED', said([text]))), undefined, []],
    ['an end', status(at('COMPLETED', said([text]))), undefined, []],
    ['an artifact', update(), undefined, [{ artifact }]],
    ['a chunk', update({ append: true, lastChunk: false }), undefined, [{ artifact, append: true }]],
    [
      'the last chunk',
      update({ append: true, lastChunk: true }),
      undefined,
      [{ artifact, append: true, lastChunk: true }],
    ],
    ['a message', { message: said([text]) }, undefined, []],
  ])('that is %s becomes these updates', (_, event, one, all) => {
    expect(relayProgress(event, working)).toEqual(one);
    expect(relayAll(event, working)).toStrictEqual(all);
  });
});

describe('an update of a call', () => {
  const update: TaskUpdate = { artifact: { artifactId: 'a', parts: [] } };
  const _never = new AbortController().signal;

  it('is given up with its signal, of which it keeps no listener', async () => {
    const updates = new UpdateQueue();
    const reason = new Error('Over');
    await expect(updates.push(update, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(updates.shift()).toBeUndefined();
    const abort = new AbortController();
    const given = updates.push(update, abort.signal);
    abort.abort(reason);
    await expect(given).rejects.toBe(reason);
    const kept = new Set<unknown>();
    const signal = {
      throwIfAborted() {},
      addEventListener: (type: string, call: unknown) => kept.add([type, call].join()),
      removeEventListener: (type: string, call: unknown) => kept.delete([type, call].join()),
    } as unknown as AbortSignal;
    const ends = [updates.push(update, signal), updates.push(update, signal)];
    expect(kept.size).toBe(1);
    updates.shift();
    updates.shift()!.resolve();
    updates.shift()!.reject(reason);
    await Promise.allSettled(ends);
    expect(kept.size).toBe(0);
  });
});
