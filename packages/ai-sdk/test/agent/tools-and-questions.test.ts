import type { Turn } from '@batonjs/server';
import type { TextStreamPart, ToolSet } from 'ai';
import { describe, expect, it } from 'vitest';
import { toolUpdate } from '../../src/agent/options.ts';
import { partReader } from '../../src/agent/part-reader.ts';
import { pendingQuestionsOf, questionOf } from '../../src/agent/questions.ts';
import type { PendingCall } from '../../src/history/pending-call.ts';
import { AI_SDK } from '../../src/metadata.ts';
import type { Update } from './update.ts';

type AnyPart = TextStreamPart<ToolSet>;

const say = (text: string, type = 'text') => ({ type: `${type}-delta`, id: '1', text });

describe('what clients see of tools', () => {
  const about = { toolCallId: 'c', toolName: 'look' };
  const parts: Record<string, object> = {
    call: { type: 'tool-call', ...about, input: { a: 1 } },
    titled: { type: 'tool-call', ...about, title: 'Look', input: { a: 1 } },
    result: { type: 'tool-result', ...about, output: { b: 2 } },
    preliminary: { type: 'tool-result', ...about, output: { b: 2 }, preliminary: true },
    error: { type: 'tool-error', ...about, error: new Error('secret') },
    denied: { type: 'tool-output-denied', ...about },
    text: say('x'),
  };
  const shown = (name: string, how: 'names' | 'data' | 'none') =>
    (toolUpdate(parts[name] as AnyPart, how) as Update | undefined)?.status;

  it.each<[string, string | undefined, object | undefined]>([
    ['call', 'Calls look', { ...about, state: 'called' }],
    ['titled', 'Calls Look', { ...about, state: 'called' }],
    ['result', undefined, undefined],
    ['preliminary', undefined, undefined],
    ['error', undefined, undefined],
    ['denied', undefined, undefined],
    ['text', undefined, undefined],
  ])('by name, of a %s', (name, words, data) => {
    expect(shown(name, 'none')).toBeUndefined();
    expect(shown(name, 'names')?.message?.parts).toEqual(
      data && [{ text: words }, { data, mediaType: 'application/json' }],
    );
  });

  it.each<[string, object | undefined]>([
    ['call', { ...about, state: 'called', input: { a: 1 } }],
    ['result', { ...about, state: 'done', output: { b: 2 } }],
    ['preliminary', undefined],
    ['error', { ...about, state: 'failed' }],
    ['denied', { ...about, state: 'denied' }],
    ['text', undefined],
  ])('as data, of a %s', (name, data) => {
    const status = shown(name, 'data');
    expect(status?.message?.parts.at(-1)).toEqual(data && { data, mediaType: 'application/json' });
    expect(status?.message?.parts.length).toBe(data && (name === 'call' ? 2 : 1));
    if (status)
      expect(status).toMatchObject({
        state: 'TASK_STATE_WORKING',
        message: { role: 'ROLE_AGENT', metadata: { [AI_SDK]: {} } },
      });
  });
});

describe('a question about tools', () => {
  const pending: PendingCall[] = [
    { toolCallId: 'c', toolName: 'book', input: { a: 1 }, needs: 'approval', reason: 'It costs' },
    { toolCallId: 'd', toolName: 'ask', input: undefined, needs: 'output' },
  ];
  const keptWith = (pending: readonly PendingCall[]) => ({
    messages: [],
    pending,
    until: 'one',
    given: { files: 0, sources: [], texts: {} },
  });
  const asked = (calls: readonly PendingCall[], extensions: readonly string[] = []) =>
    (questionOf(keptWith(calls), { extensions } as unknown as Turn, { usage: 2 }) as unknown as Update)
      .status!.message as unknown as {
      parts: { text?: string; data?: Record<string, never>; mediaType?: string }[];
      metadata: object;
      extensions?: string[];
    };

  it('says in words and as data what it is about', () => {
    const { parts, metadata, extensions } = asked(pending);
    expect(parts).toEqual([
      { text: 'May the tool "book" run with {"a":1}? (It costs)\nWhat does "ask" give for ?' },
      {
        mediaType: 'application/json',
        data: {
          toolCalls: [
            { toolCallId: 'c', toolName: 'book', input: { a: 1 }, needs: 'approval', reason: 'It costs' },
            { toolCallId: 'd', toolName: 'ask', needs: 'output' },
          ],
        },
      },
    ]);
    expect([metadata, extensions]).toEqual([{ [AI_SDK]: {} }, undefined]);
  });

  it('is a form for clients that take forms', () => {
    const uri = 'https://batonjs.dev/extensions/form-input/v1';
    const { parts, extensions } = asked(pending, [uri]);
    expect(extensions).toEqual([uri]);
    expect(parts[2]).toEqual({
      mediaType: expect.stringContaining('form'),
      data: {
        formId: expect.stringMatching(/./),
        title: 'Tools',
        schema: {
          type: 'object',
          properties: { c: { type: 'boolean', title: 'Allow "book"' }, d: { title: 'ask' } },
          required: ['c', 'd'],
          additionalProperties: false,
        },
      },
    });
  });

  it.each([
    [498, `May the tool "book" run with "${'x'.repeat(498)}"?`],
    [499, `May the tool "book" run with "${'x'.repeat(499)}…?`],
  ])('shows 500 characters of an input: %s', (length, words) => {
    expect(
      asked([{ toolCallId: 'c', toolName: 'book', input: 'x'.repeat(length), needs: 'approval' }]).parts[0]!
        .text,
    ).toBe(words);
  });
});

describe('the calls that wait for another agent', () => {
  const pendingQuestions = (resumed: [string, string][] = []) =>
    pendingQuestionsOf({ message: { messageId: 'm'.repeat(100) } } as Turn, new Map(resumed));

  it('are named by their turn and their id, and by how often it was used', () => {
    const calls = pendingQuestions([['old', 'kept']]);
    const turn = 'm'.repeat(90);
    expect(['c', 'c', 'd', 'c', 'old', 'old'].map((id) => calls.nameOf(id))).toEqual([
      `${turn} c`,
      `${turn} c (2)`,
      `${turn} d`,
      `${turn} c (3)`,
      'kept',
      'kept (2)',
    ]);
    expect(calls.callOf(`x${'y'.repeat(90)}`)).toBe(`${turn} ${'y'.repeat(90)}`);
  });

  it('go up once all others were read and wait too', async () => {
    const calls = pendingQuestions([['old', 'kept']]);
    let changes = 0;
    calls.onChange(() => {
      changes += 1;
    });
    await calls.ask('old');
    expect([changes, calls.asks('old'), calls.isDue(() => true, [])]).toEqual([0, false, false]);
    calls.expect(['c', 'd']);
    const order: string[] = [];
    const first = calls.ask('c').then(() => order.push('c'));
    void calls.ask('c').then(() => order.push('c again'));
    expect([changes, calls.asks('c'), calls.asks('d')]).toEqual([2, true, false]);
    const due = (read: string, open: readonly string[]) => calls.isDue((id) => read.includes(id), open);
    expect([
      due('cd', ['c']),
      due('c', ['c']),
      due('d', ['c']),
      due('cd', ['c', 'd']),
      due('cd', []),
    ]).toEqual([true, false, false, false, true]);
    expect(order).toEqual([]);
    calls.release();
    await first;
    expect([order, calls.asks('c'), due('cd', [])]).toEqual([['c', 'c again'], false, false]);
  });
});

describe('a reader of a model', () => {
  const part = say('x') as AnyPart;

  /** A stream that is written by hand. */
  function stream() {
    const reads: PromiseWithResolvers<IteratorResult<AnyPart>>[] = [];
    let returned = 0;
    const next = () => {
      reads.push(Promise.withResolvers());
      return reads.at(-1)!.promise;
    };
    const iterator = {
      next,
      async return() {
        returned += 1;
        throw new Error('Not now');
      },
    };
    return {
      reads,
      timesReturned: () => returned,
      stream: { [Symbol.asyncIterator]: () => iterator } as never,
    };
  }

  it('gives the parts, and says when it was woken', async () => {
    const { reads, stream: parts } = stream();
    const reader = partReader(parts, new AbortController().signal);
    reader.wake();
    reader.wake();
    expect(await reader.next()).toBe('woken');
    const reading = reader.next();
    expect(reads).toHaveLength(1);
    reader.wake();
    expect(await reading).toBe('woken');
    const again = reader.next();
    expect(reads).toHaveLength(1);
    reads[0]!.resolve({ done: false, value: part });
    expect(await again).toBe(part);
    const last = reader.next();
    reads[1]!.resolve({ done: true, value: undefined });
    expect(await last).toBeUndefined();
  });

  it('throws what the stream throws, and the reason of its signal', async () => {
    const { reads, stream: parts } = stream();
    const stop = new AbortController();
    const reader = partReader(parts, stop.signal);
    const failing = reader.next();
    reads[0]!.reject(new Error('Broken'));
    await expect(failing).rejects.toThrow('Broken');
    const waiting = reader.next();
    stop.abort(new Error('Over'));
    await expect(waiting).rejects.toThrow('Over');
  });

  it('ends the stream when it is closed, and listens no more', async () => {
    const { stream: parts, timesReturned } = stream();
    const { signal } = new AbortController();
    const counts = { add: 0, remove: 0 };
    const counted = {
      addEventListener: () => (counts.add += 1),
      removeEventListener: () => (counts.remove += 1),
      throwIfAborted: () => signal.throwIfAborted(),
    } as unknown as AbortSignal;
    partReader(parts, counted).close();
    expect([timesReturned(), counts]).toEqual([1, { add: 1, remove: 1 }]);
    partReader({ [Symbol.asyncIterator]: () => ({}) } as never, signal).close();
  });
});
