import { createAgentServer } from '@batonjs/server';
import { PriceTable } from '@batonjs/server/internals';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { inspector, type ModelPrices } from '../../src/index.ts';

const small = { input: 0.25, output: 2 };
const names = { provider: 'openai.responses', modelId: 'gpt-5-mini' };
const usage = { input: 1_000_000, output: 100_000 };
const table = (models: ModelPrices['models']) => new PriceTable({ currency: 'USD', models }, 'modelPrices');

describe('prices of models', () => {
  it.each<[unknown, RegExp]>([
    [{ models: {} }, /^`modelPrices\.currency` must be a code of ISO 4217, such as "USD"$/],
    [{ currency: '$', models: {} }, /currency` must be a code/],
    [{ currency: 'usd', models: {} }, /currency` must be a code/],
    [{ currency: 'USDT', models: {} }, /currency` must be a code/],
    [{ currency: 5, models: {} }, /currency` must be a code/],
    ['USD', /currency` must be a code/],
    [{ currency: 'USD' }, /^`modelPrices\.models` must be an object with a price for each model$/],
    [{ currency: 'USD', models: null }, /models` must be an object/],
    [{ currency: 'USD', models: [] }, /models` must be an object/],
    [{ currency: 'USD', models: 'gpt' }, /models` must be an object/],
    [{ a: 3 }, /^`modelPrices\.models\["a"\]` must be an object with `input` and `output`$/],
    [{ a: null }, /models\["a"\]` must be an object/],
    [
      { a: { input: 1 } },
      /^`output` of `modelPrices\.models\["a"\]` must be a number from 0, per million tokens$/,
    ],
    [{ a: { output: 1 } }, /^`input` of/],
    [{ a: { input: '1', output: 1 } }, /^`input` of/],
    [{ a: { input: -1, output: 1 } }, /^`input` of/],
    [{ a: { input: 1, output: Number.POSITIVE_INFINITY } }, /^`output` of/],
    [{ a: { ...small, cachedInput: null } }, /^`cachedInput` of/],
    [{ a: { ...small, cacheWrite: Number.NaN } }, /^`cacheWrite` of/],
    [
      { 'a"b': { ...small, cached: 1 } },
      /^`modelPrices\.models\["a\\"b"\]` has an unknown member "cached"\. There are: input, output, cachedInput, cacheWrite$/,
    ],
  ])('such as %j are refused when the inspector is made', (given, message) => {
    const server = closedAfterTest(
      createAgentServer({
        name: 'a',
        card: { name: 'A', description: 'A' },
        agent: async function* () {},
        store: memoryStore(),
      }),
    );
    const isWhole =
      typeof given === 'string' ||
      Object.keys(given as object).some((key) => key !== 'a' && !key.includes('"'));
    const modelPrices = (isWhole ? given : { currency: 'USD', models: given }) as ModelPrices;
    expect(() => inspector({ server, modelPrices })).toThrow(
      expect.toSatisfy((error: unknown) => error instanceof TypeError && message.test(error.message)),
    );
  });

  it('may be nothing, and may leave out those of caches', () => {
    expect(table({ free: { input: 0, output: 0 } }).costOf({ provider: 'x', modelId: 'free' }, usage)).toBe(
      0,
    );
    expect(table({}).currency).toBe('USD');
    expect(table({ a: { ...small, cachedInput: undefined as never } })).toBeInstanceOf(PriceTable);
  });

  it.each(['openai.responses/gpt-5-mini', 'openai/gpt-5-mini', 'gpt-5-mini'])(
    'are found under %s',
    (name) => {
      expect(table({ [name]: small }).costOf(names, usage)).toBeCloseTo(0.45, 12);
    },
  );

  it('are taken from the most exact name, of the model that answered first', () => {
    const models = {
      'openai.responses/gpt-5-mini': { input: 1, output: 0 },
      'openai/gpt-5-mini': { input: 2, output: 0 },
      'gpt-5-mini': { input: 3, output: 0 },
    };
    const costs = [names, { ...names, provider: 'openai' }, { ...names, provider: 'azure' }].map((each) =>
      table(models).costOf(each, usage),
    );
    expect(costs).toEqual([1, 2, 3]);
    const responseModelId = 'gpt-5-mini-2026';
    expect(table(models).costOf({ ...names, responseModelId }, usage)).toBe(1);
    expect(
      table({ ...models, [responseModelId]: { input: 4, output: 0 } }).costOf(
        { ...names, responseModelId },
        usage,
      ),
    ).toBe(4);
  });

  it('are those of the gateway, whose models have the provider in their names', () => {
    const model = { provider: 'gateway', modelId: 'openai/gpt-5-mini' };
    expect(table({ 'openai/gpt-5-mini': small }).costOf(model, usage)).toBeCloseTo(0.45, 12);
  });

  it('are not made up: no price or no tokens, no cost', () => {
    expect(table({ 'openai/gpt-5': small }).costOf(names, usage)).toBeUndefined();
    expect(table({ constructor: small }).costOf({ ...names, modelId: 'toString' }, usage)).toBeUndefined();
    const known = table({ 'gpt-5-mini': small });
    expect(known.costOf(names, undefined)).toBeUndefined();
    expect(known.costOf(names, { input: 1 })).toBeUndefined();
    expect(known.costOf(names, { output: 1 })).toBeUndefined();
  });

  it('of caches count for tokens from them and into them', () => {
    const cached = { input: 100, output: 10, cachedInput: 60, cacheWrite: 30 };
    const cost = (price: ModelPrices['models'][string], more: object = {}) =>
      Math.round(table({ 'gpt-5-mini': price }).costOf(names, { ...cached, ...more })! * 1e6);
    expect(cost({ input: 10, output: 100, cachedInput: 1, cacheWrite: 20 })).toBe(100 + 60 + 600 + 1_000);
    expect(cost({ input: 10, output: 100 })).toBe(1_000 + 1_000);
    // More than all there were: no provider should say so, and no cost is negative.
    expect(cost({ input: 10, output: 0, cachedInput: 1 }, { cachedInput: 500 })).toBe(100);
    expect(cost({ input: 10, output: 0, cachedInput: 1, cacheWrite: 2 }, { cacheWrite: 500 })).toBe(60 + 80);
  });
});
