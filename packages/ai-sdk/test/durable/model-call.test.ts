import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { APICallError } from 'ai';
import { describe, expect, it } from 'vitest';
import { callMeter } from '../../src/durable/model-call.ts';

const model = { provider: 'maker.chat', modelId: 'small' };
const ms = expect.toSatisfy((value: number) => Number.isInteger(value) && value >= 0);
const usage: LanguageModelV4Usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
  outputTokens: { total: 20, text: 15, reasoning: 5 },
};
const tokens = { input: 100, output: 20, cachedInput: 30, cacheWrite: 10, reasoning: 5 };
const finish = { finishReason: { unified: 'length' as const, raw: 'max' }, usage };

function metered(...parts: readonly LanguageModelV4StreamPart[]) {
  const meter = callMeter(model);
  for (const part of parts) meter.see(part);
  return meter;
}

describe('a call of a model', () => {
  it('says who answered, how long it took, what it used and how it ended', () => {
    const meter = metered(
      { type: 'response-metadata', modelId: 'small-2026' },
      { type: 'text-delta', id: '1', delta: 'a' },
      { type: 'finish', ...finish },
    );
    expect(meter.kept([])).toStrictEqual({
      ...model,
      responseModelId: 'small-2026',
      ms,
      firstMs: ms,
      finishReason: 'length',
      usage: tokens,
    });
  });

  it.each<LanguageModelV4StreamPart>([
    { type: 'text-delta', id: '1', delta: 'a' },
    { type: 'reasoning-delta', id: '1', delta: 'a' },
    { type: 'tool-input-start', id: '1', toolName: 'look' },
    { type: 'tool-call', toolCallId: '1', toolName: 'look', input: '{}' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: '' } },
  ])('begins to speak with $type', (part) => {
    expect(metered(part).kept([])).toStrictEqual({ ...model, ms, firstMs: ms });
    expect(metered({ type: 'text-start', id: '1' }).kept([])).toStrictEqual({ ...model, ms });
  });

  it('is measured from its request, and to its first words once', () => {
    let now = 1_000;
    const meter = callMeter(model, undefined, () => now);
    now = 1_010;
    expect(meter.failed()).toStrictEqual({ ms: 10 });
    meter.start();
    now = 1_015.4;
    meter.see({ type: 'text-delta', id: '1', delta: 'a' });
    now = 1_020.6;
    meter.see({ type: 'text-delta', id: '1', delta: 'b' });
    expect(meter.kept([])).toMatchObject({ ms: 11, firstMs: 5 });
  });

  it('has its own name once, the tries before it and its prompt', () => {
    const prompt = { messages: [{ role: 'user', text: 'Hi' }] };
    const meter = callMeter(model, prompt);
    meter.seeWhole(finish, 'small');
    const failed = [{ ms: 1, status: 503 }];
    expect(meter.kept(failed)).toStrictEqual({
      ...model,
      ms,
      finishReason: 'length',
      usage: tokens,
      failed,
      prompt,
    });
    meter.seeWhole(finish, 'other');
    expect(meter.kept([])).toMatchObject({ responseModelId: 'other' });
    expect(meter.kept([])).not.toHaveProperty('failed');
  });

  it.each<[string, unknown, object]>([
    ['nothing', { inputTokens: { total: undefined }, outputTokens: {} }, {}],
    ['nothing at all', {}, {}],
    ['a part', { inputTokens: { total: 3 }, outputTokens: { total: Number.NaN } }, { usage: { input: 3 } }],
  ])('whose provider tells %s has no more', (_, told, more) => {
    const end = { ...finish, usage: told as LanguageModelV4Usage };
    expect(metered({ type: 'finish', ...end }).kept([])).toStrictEqual({
      ...model,
      ms,
      finishReason: 'length',
      ...more,
    });
  });
});

describe('a call that failed', () => {
  const error = new APICallError({
    message: 'secret words',
    url: 'http://127.0.0.1',
    requestBodyValues: {},
    statusCode: 503,
  });

  it('has its status and its tokens, and neither words nor prompt', () => {
    const meter = callMeter(model, { messages: [{ role: 'user', text: 'secret' }] });
    expect(meter.failed(error)).toStrictEqual({ ms, status: 503 });
    expect(meter.failed(new Error('secret'))).toStrictEqual({ ms });
    meter.see({ type: 'error', error });
    meter.see({ type: 'finish', ...finish });
    expect(meter.failed()).toStrictEqual({ ms, status: 503, usage: tokens });
  });
});
