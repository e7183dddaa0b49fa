import type { Part } from '@batonjs/protocol';
import type { Agent, TaskUpdate } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { APICallError, RetryError, type TextStreamPart, type ToolSet } from 'ai';
import { describe, expect, it } from 'vitest';
import { failureFor, failureOf, ModelFailure } from '../../src/agent/failures.ts';
import { AI_SDK, type StreamedAgentOptions, streamedAgent } from '../../src/index.ts';
import type { Update } from './update.ts';

type AnyPart = TextStreamPart<ToolSet>;

const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, other: 4 };
const finish = (finishReason = 'stop', more: object = { totalUsage: usage }) => ({
  type: 'finish',
  finishReason,
  ...more,
});
const say = (text: string, type = 'text') => ({ type: `${type}-delta`, id: '1', text });

/** What an agent makes of a stream of these parts. */
async function updatesOf(
  parts: readonly object[],
  options: StreamedAgentOptions = {},
  responseMessages?: readonly object[],
) {
  const agent = streamedAgent(
    () => ({
      stream: (async function* () {
        yield* parts as AnyPart[];
      })(),
      ...(responseMessages && { responseMessages: Promise.resolve(responseMessages) as never }),
    }),
    options,
  );
  return (await runTurn(agent as Agent, 'go')).updates;
}

/** One line for each update. */
const linesOf = (updates: readonly TaskUpdate[]) =>
  (updates as readonly Update[]).map(({ status, artifact, append, lastChunk }) =>
    status
      ? status.state.replace('TASK_STATE_', '')
      : `${artifact!.artifactId}${append ? '+' : ''}${lastChunk ? '.' : ''}: ${artifact!.parts.map(contentOf).join()}`,
  );

const contentOf = (part: Part) =>
  'text' in part
    ? part.text
    : 'data' in part
      ? JSON.stringify(part.data)
      : 'raw' in part
        ? atob(part.raw)
        : '';

const failureIn = (updates: readonly TaskUpdate[]) =>
  (updates as readonly Update[])
    .at(-1)!
    .status!.message!.parts.map((part) => ('data' in part ? part.data : undefined));

describe('an answer', () => {
  it('ends with the whole text where that is wanted', async () => {
    const parts = [say('One'), say('Hm', 'reasoning'), say(' more'), finish()];
    const updates = await updatesOf(parts, { whole: true, artifact: 'text' });
    expect(linesOf(updates)).toEqual([
      'WORKING',
      'text: One',
      'text+:  more',
      'text.: One more',
      'COMPLETED',
    ]);
  });

  it('becomes artifacts: its texts, its files, and at its end the sources', async () => {
    const file = { base64: '', uint8Array: new TextEncoder().encode('hi'), mediaType: 'text/plain' };
    const source = {
      type: 'source',
      sourceType: 'url',
      id: 's',
      url: 'https://a.example',
      providerMetadata: {},
    };
    const updates = await updatesOf(
      [
        { type: 'start-step' },
        say('Hm', 'reasoning'),
        source,
        say('One'),
        { type: 'text-end', id: '1' },
        say(' more'),
        { type: 'file', file },
        say('.'),
        { type: 'start-step' },
        { type: 'file', file },
        say('Two'),
        finish(),
      ],
      { showReasoning: true },
    );
    expect(linesOf(updates)).toEqual([
      'WORKING',
      'reasoning: Hm',
      'answer: One more',
      'file-1: hi',
      'answer+: .',
      'file-2: hi',
      'answer+: \n\nTwo',
      'sources: [{"sourceType":"url","id":"s","url":"https://a.example"}]',
      'answer+.: ',
      'COMPLETED',
    ]);
    const told = updates as readonly Update[];
    expect(told.find(({ artifact }) => artifact?.artifactId === 'file-2')?.artifact).toMatchObject({
      name: 'file-2',
      parts: [{ mediaType: 'text/plain' }],
    });
    const metadata = { [AI_SDK]: { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } } };
    expect(told.at(-1)?.metadata).toEqual(metadata);
    expect(told.at(-2)?.artifact?.metadata).toEqual(metadata);
  });

  it('has the name that the agent gives it, and keeps its reasoning', async () => {
    const updates = await updatesOf([say('Hm', 'reasoning'), say('One'), finish('stop', {})], {
      artifact: 'story',
    });
    expect(linesOf(updates)).toEqual(['WORKING', 'story: One', 'story+.: ', 'COMPLETED']);
    expect((updates as readonly Update[]).at(-1)).not.toHaveProperty('metadata.usage');
  });

  it.each<[string, StreamedAgentOptions['complete'], object[], string]>([
    ['stops', undefined, [say('x'), finish()], 'COMPLETED'],
    [
      'gives only a file',
      undefined,
      [{ type: 'file', file: { uint8Array: new Uint8Array(), mediaType: 'a/b' } }, finish()],
      'COMPLETED',
    ],
    ['stops without words', undefined, [finish()], 'FAILED'],
    ['only thinks', undefined, [say('x', 'reasoning'), finish()], 'FAILED'],
    ['is cut', undefined, [say('x'), finish('length')], 'FAILED'],
    ['is cut, which the agent accepts', ['length'], [say('x'), finish('length')], 'COMPLETED'],
    ['is cut without words, which the agent accepts', ['length'], [finish('length')], 'COMPLETED'],
    ['stops, which the agent does not accept', ['length'], [say('x'), finish()], 'FAILED'],
    ['breaks off', undefined, [say('x')], 'FAILED'],
  ])('that %s ends its task', async (_what, complete, parts, state) => {
    const updates = await updatesOf(parts, { ...(complete && { complete }), showReasoning: true });
    expect(linesOf(updates).at(-1)).toBe(state);
  });

  it.each([
    ['stop', 'MODEL_FAILED', 'The language model did not give a whole answer', true],
    ['length', 'MODEL_LENGTH', 'The answer of the language model became too long', undefined],
    ['content-filter', 'MODEL_FILTERED', 'The language model may not give this answer', undefined],
    ['tool-calls', 'MODEL_STEPS', 'The language model made no answer within its steps', undefined],
    ['other', 'MODEL_FAILED', 'The language model did not give a whole answer', true],
    [undefined, 'MODEL_FAILED', 'The language model did not give a whole answer', true],
  ])('that ends with %s is a failure', async (reason, code, message, retryable) => {
    const failure = { code, message, ...(retryable !== undefined && { retryable }) };
    if (reason !== 'stop') expect(failureFor(reason as never)).toEqual(failure);
    expect(failureIn(await updatesOf(reason ? [finish(reason)] : []))).toContainEqual(failure);
    const told = (await updatesOf(reason ? [finish(reason)] : [])) as readonly Update[];
    expect(Object.keys(told.at(-1)?.metadata ?? {})).toEqual(expect.arrayContaining(reason ? [AI_SDK] : []));
  });

  it('with an error in it fails, and only the operator sees why', async () => {
    const errors: unknown[] = [];
    const error = new Error('secret');
    const updates = await updatesOf([say('x'), { type: 'error', error }, say('y'), finish()], {
      onError: (each) => errors.push(each),
    });
    expect(linesOf(updates)).toEqual(['WORKING', 'answer: x', 'answer+: y', 'FAILED']);
    expect(failureIn(updates)).toContainEqual({
      code: 'MODEL_FAILED',
      message: 'The language model failed',
      retryable: true,
    });
    expect([errors, JSON.stringify(updates)]).toEqual([[error], expect.not.stringContaining('secret')]);
    expect(linesOf(await updatesOf([{ type: 'error', error }])).at(-1)).toBe('FAILED');
  });

  it('whose stream breaks fails, and only the operator sees why', async () => {
    const errors: unknown[] = [];
    const error = new Error('secret');
    const agent = streamedAgent(
      () => ({
        stream: (async function* () {
          yield say('x') as AnyPart;
          throw error;
        })(),
      }),
      { onError: (each) => errors.push(each) },
    );
    const { updates } = await runTurn(agent as Agent, 'go');
    expect(linesOf(updates).at(-1)).toBe('FAILED');
    expect([errors, JSON.stringify(updates)]).toEqual([[error], expect.not.stringContaining('secret')]);
  });

  it('keeps at its question what the SDK knows of its messages, or else what the stream had', async () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'ask', input: { a: 1 } };
    const keptIn = (updates: readonly TaskUpdate[]) => Object.values(updates.at(-1)?.memory ?? {})[0];
    const own = keptIn(
      await updatesOf([say('x'), { type: 'text-end', id: '1' }, call, finish('tool-calls')]),
    );
    expect(own).toMatchObject({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'x' },
            { type: 'tool-call', toolCallId: 'c' },
          ],
        },
      ],
      pending: [{ toolCallId: 'c', toolName: 'ask', input: { a: 1 }, needs: 'output' }],
      until: expect.any(String),
      given: { files: 0, sources: [], texts: { answer: 1 } },
    });
    expect(
      keptIn(await updatesOf([call, finish('tool-calls')], {}, [{ role: 'assistant', content: 'y' }])),
    ).toMatchObject({
      messages: [{ role: 'assistant', content: 'y' }],
    });
    const asked = (await updatesOf([call, finish('tool-calls')], {
      question: ([first]) => `What of ${first!.toolName}?`,
    })) as readonly Update[];
    expect(asked.at(-1)!.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'What of ask?' }, {}] },
    });
    expect(asked.at(-1)!.metadata).toHaveProperty([AI_SDK, 'usage']);
  });
});

describe('whether a model that failed is worth another attempt', () => {
  const named = (name: string) => Object.assign(new Error('secret'), { name });
  const api = (isRetryable: boolean) =>
    new APICallError({ message: 'secret', url: '', requestBodyValues: {}, isRetryable });

  it.each<[string, unknown, boolean]>([
    ['an error of the network', new TypeError('fetch failed'), true],
    ['nothing', undefined, true],
    ['a call that may be repeated', api(true), true],
    ['a call that may not', api(false), false],
    [
      'attempts of which the last may not',
      new RetryError({ message: '', reason: 'maxRetriesExceeded', errors: [api(true), api(false)] }),
      false,
    ],
    [
      'attempts of which the last may',
      new RetryError({ message: '', reason: 'maxRetriesExceeded', errors: [api(false), api(true)] }),
      true,
    ],
    ...'AI_InvalidArgumentError AI_InvalidPromptError AI_LoadAPIKeyError AI_LoadSettingError AI_NoSuchModelError AI_NoSuchProviderError AI_UnsupportedFunctionalityError GatewayAuthenticationError GatewayError'
      .split(' ')
      .map((name): [string, unknown, boolean] => [name, named(name), false]),
  ])('after %s', (_what, cause, retryable) => {
    const failure = new ModelFailure(cause);
    expect([failure.name, failure.message]).toEqual(['ModelFailure', 'The language model failed']);
    expect(failureOf(failure)).toEqual({
      code: 'MODEL_FAILED',
      message: 'The language model failed',
      retryable,
    });
  });
});
