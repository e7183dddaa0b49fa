import type { Fact } from '@batonjs/lifecycle';
import { PriceTable } from '@batonjs/server/internals';
import { describe, expect, it } from 'vitest';
import type { Call } from '../../src/api/model-calls.ts';
import type { Entry, TimelineUpdate } from '../../src/api/timeline.ts';
import { type CallViewOptions, withCalls } from '../../src/models/read-call.ts';

const at = '2026-11-26T12:00:00.000Z';
const step = (result: unknown): Fact => ({
  format: 1,
  at,
  type: 'step-completed',
  turn: 1,
  name: 'model 1',
  result,
});

async function shown(fact: Fact, options: Partial<CallViewOptions> = {}): Promise<Entry> {
  async function* updates(): AsyncGenerator<TimelineUpdate> {
    yield { type: 'live' };
    yield { type: 'entries', entries: [{ seq: 1, at, fact }] };
  }
  const found: TimelineUpdate[] = [];
  for await (const each of withCalls(updates(), { showsMessages: false, ...options })) found.push(each);
  expect(found[0]).toEqual({ type: 'live' });
  return found.flatMap((update) => (update.type === 'entries' ? update.entries : []))[0]!;
}

const callOf = async (result: unknown, options: Partial<CallViewOptions> = {}): Promise<Call | undefined> =>
  (await shown(step(result), options)).call;

const model = { provider: 'openai.chat', modelId: 'small', ms: 20 };
const prices = new PriceTable(
  { currency: 'EUR', models: { small: { input: 1, output: 10 } } },
  'modelPrices',
);

describe('a step that called a model', () => {
  it('has its tokens, its cost and the tries before it', async () => {
    const modelCall = {
      ...model,
      responseModelId: 'small-2',
      firstMs: 5,
      finishReason: 'length',
      usage: { input: 1_000_000, output: 100_000, cachedInput: 7, cacheWrite: 3, reasoning: 2 },
      failed: [
        { ms: 3, status: 503 },
        { ms: 4, usage: { input: 1_000_000, output: 0 } },
      ],
    };
    expect(await callOf({ modelCall, parts: [] }, { prices })).toStrictEqual({
      kind: 'model',
      ...modelCall,
      cost: 2,
      failed: [
        { ms: 3, status: 503 },
        { ms: 4, usage: { input: 1_000_000, output: 0 }, cost: 1 },
      ],
    });
    expect(await callOf({ modelCall, parts: [] })).not.toHaveProperty('cost');
  });

  it.each<[string, object]>([
    ['no more', {}],
    [
      'nonsense',
      { responseModelId: 1, firstMs: -1, finishReason: {}, usage: { input: 'many' }, failed: 'often' },
    ],
    ['other nonsense', { usage: [1], failed: [null, { ms: 'x' }, []], prompt: 3 }],
  ])('with %s has what can be read', async (_, more) => {
    expect(await callOf({ modelCall: { ...model, ...more } }, { prices })).toStrictEqual({
      kind: 'model',
      ...model,
    });
  });

  it.each([{ provider: 1 }, { modelId: undefined }, { ms: '20' }, { ms: Number.NaN }, { ms: -1 }])(
    'that cannot be read (%j) is none, and shows no words either',
    async (wrong) => {
      const entry = await shown(step({ modelCall: { ...model, ...wrong }, parts: [{ text: 'secret' }] }));
      expect(entry.call).toBeUndefined();
      expect(JSON.stringify(entry)).not.toContain('secret');
      expect(await callOf({ modelCall: { ...model, ...wrong } }, { showsMessages: true })).toBeUndefined();
    },
  );

  it('has no words of the model for those who may not read them', async () => {
    const secret = { messages: [{ role: 'user', text: 'secret' }] };
    const result = {
      modelCall: { ...model, prompt: secret },
      parts: [{ type: 'text-delta', id: '1', delta: 'secret' }],
      result: { content: [{ type: 'text', text: 'secret' }] },
    };
    const entry = await shown(step(result));
    expect(entry).toStrictEqual({ seq: 1, at, fact: step('…'), call: { kind: 'model', ...model } });
    const read = await shown(step(result), { showsMessages: true });
    expect(read.fact).toEqual(step(result));
  });

  const messagesOf = async (result: object) => {
    const call = await callOf({ modelCall: model, ...result }, { showsMessages: true });
    return call?.kind === 'model' ? call.messages : undefined;
  };

  it('has the prompt that is kept, and the answer of a stream', async () => {
    const prompt = {
      messages: [{ role: 'system', text: 'Be brief' }, null, { role: 'user' }, { text: 'a' }],
      isCut: true,
    };
    const parts = [
      { type: 'stream-start', warnings: [] },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'It is ' },
      { type: 'text-delta', id: 't', delta: 'cold' },
      { type: 'tool-input-delta', id: 'c', delta: '{"pl' },
      { type: 'tool-call', toolName: 'look', input: '{"place":"Oulu"}' },
      { type: 'text-delta', id: 't', delta: 'and ' },
      { type: 'text-delta', id: 't', delta: 'dark' },
      { type: 'text-delta', delta: 'one' },
      { type: 'text-delta', delta: 'two' },
      null,
    ];
    expect(await messagesOf({ modelCall: { ...model, prompt }, parts })).toStrictEqual({
      prompt: [{ role: 'system', text: 'Be brief' }],
      answer: 'Hm\nIt is cold\n[look] {"place":"Oulu"}\nand dark\none\ntwo',
      isCut: true,
    });
  });

  it('has the answer of a whole result, cut where it is long', async () => {
    const content = (text: string) => ({ result: { content: [{ type: 'text', text }] } });
    expect(await messagesOf(content('cold'))).toStrictEqual({ answer: 'cold' });
    expect(await messagesOf(content('x'.repeat(16_384)))).toStrictEqual({ answer: 'x'.repeat(16_384) });
    expect(await messagesOf(content('x'.repeat(16_385)))).toStrictEqual({
      answer: 'x'.repeat(16_384),
      isCut: true,
    });
    expect(await messagesOf({ parts: 'odd' })).toStrictEqual({});
    expect(await messagesOf({})).toStrictEqual({});
  });
});

describe('a step that called a tool', () => {
  it('has its name, its duration and whether it failed', async () => {
    const toolCall = { name: 'look', ms: 7 };
    const tool = { kind: 'tool', ...toolCall };
    expect(await callOf({ toolCall, output: null })).toStrictEqual(tool);
    expect(await callOf({ toolCall, error: 'Broken' })).toStrictEqual({ ...tool, isFailed: true });
    const entry = await shown(step({ toolCall, output: 'as before' }));
    expect(entry.fact).toEqual(step({ toolCall, output: 'as before' }));
    for (const wrong of [{ name: 1 }, { ms: 'x' }])
      expect(await callOf({ toolCall: { ...toolCall, ...wrong } })).toBeUndefined();
  });
});

describe('another entry', () => {
  it('of a recording, which has no fact, stays as it is', async () => {
    const said = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
    for (const content of [{ message: said }, { event: { message: said } }]) {
      const entry = { seq: 1, at, ...content } as Entry;
      async function* updates(): AsyncGenerator<TimelineUpdate> {
        yield { type: 'entries', entries: [entry] };
      }
      for (const showsMessages of [true, false])
        for await (const update of withCalls(updates(), { showsMessages }))
          expect(update).toStrictEqual({ type: 'entries', entries: [entry] });
    }
  });

  it('that ends as a kept conversation begins is none', async () => {
    const changes = { 'my https://batonjs.dev/ai-sdk/v1 ': 'x' };
    const fact: Fact = { format: 1, at, type: 'memory-changed', changes };
    expect((await shown(fact)).fact).toEqual(fact);
  });

  it.each([3, null, 'text', [1], {}, { parts: [] }])('with the result %j stays as it is', async (result) => {
    expect(await shown(step(result))).toStrictEqual({ seq: 1, at, fact: step(result) });
  });

  it('of the memory has no conversation with a model for those who may not read it', async () => {
    const kept = 'https://batonjs.dev/ai-sdk/v1 m-1';
    const fact: Fact = {
      format: 1,
      at,
      type: 'memory-changed',
      changes: { [kept]: { messages: ['x'] }, city: 'Oulu' },
    };
    expect((await shown(fact)).fact).toEqual({ ...fact, changes: { [kept]: '…', city: 'Oulu' } });
    expect((await shown(fact, { showsMessages: true })).fact).toEqual(fact);
  });
});
