import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Turn } from '@batonjs/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recordedCalls } from '../../src/durable/model-call.ts';
import { recordedModel, type StoredCall } from '../../src/durable/recorded-model.ts';
import { streamOf } from '../../src/stream-of.ts';
import { inTurn } from '../in-turn.ts';

type Part = LanguageModelV4StreamPart;

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
const finish = (unified = 'stop'): Part => ({
  type: 'finish',
  finishReason: { unified: unified as never, raw: undefined },
  usage,
});
const say = (delta: string): Part => ({ type: 'text-delta', id: '1', delta });
const call = (toolCallId: string, more: object = {}): Part => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'look',
  input: '{}',
  ...more,
});

/** A model that gives these streams, one after the other; an error fails the call. */
function modelOf(...answers: readonly (readonly Part[] | Error)[]) {
  const prompts: unknown[] = [];
  const next = (prompt: unknown) => {
    prompts.push(prompt);
    const answer = answers[prompts.length - 1] ?? new Error('No more');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const model = {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'test',
    supportedUrls: {},
    async doStream({ prompt }: { prompt: unknown }) {
      const parts = next(prompt);
      async function* each() {
        yield* parts;
      }
      return { stream: streamOf(each()), request: { body: 'r' } };
    },
    async doGenerate({ prompt }: { prompt: unknown }) {
      const text = JSON.stringify(next(prompt));
      return { content: [{ type: 'text', text }], finishReason: { unified: 'stop' }, usage, warnings: [] };
    },
  } as unknown as LanguageModelV4;
  return { model, prompts };
}

/** The model in a turn, and the calls of tools that it told of. */
function recordedIn(turn: Turn, model: LanguageModelV4) {
  const told: (readonly string[])[] = [];
  const calls = recordedCalls<StoredCall>(turn, 'model');
  const recorded = recordedModel(model, calls, (ids) => told.push(ids)) as LanguageModelV4;
  const read = async (order: string[] = []) => {
    const { stream, ...rest } = await recorded.doStream({ prompt: [] });
    for await (const part of stream) order.push(part.type === 'text-delta' ? part.delta : part.type);
    return { order, rest };
  };
  return { recorded, calls, told, read };
}

describe('the stream of a model', () => {
  it('is a step, which a later attempt gets without a call', async () => {
    const parts = [
      say('a'),
      say('b'),
      call('c'),
      call('d', { providerExecuted: true }),
      finish('tool-calls'),
    ];
    const { model, prompts } = modelOf(parts);
    const first = await inTurn(async (turn) => {
      const { read, told } = recordedIn(turn, model);
      return { ...(await read()), told };
    });
    expect(first.given).toEqual({
      order: ['a', 'b', 'tool-call', 'tool-call', 'finish'],
      rest: expect.objectContaining({ request: { body: 'r' } }),
      told: [['c']],
    });
    expect(Object.keys(first.steps)).toEqual(['model 1']);
    const second = await inTurn(
      async (turn) => {
        const { read, told } = recordedIn(turn, model);
        return { ...(await read()), told };
      },
      { attempt: 2, steps: first.steps },
    );
    expect(second.given).toMatchObject({ order: ['ab', 'tool-call', 'tool-call', 'finish'], told: [['c']] });
    expect(prompts).toHaveLength(1);
  });

  it.each(['tool-call', 'tool-approval-request', 'finish'])(
    'passes on before it is recorded, except from the first %s on',
    async (type) => {
      const held = type === 'finish' ? finish() : ({ ...call('c'), type } as never);
      const { model } = modelOf([say('a'), held, say('b'), finish()]);
      const order: string[] = [];
      await inTurn(async (turn) => {
        const noting = Object.create(turn, {
          step: {
            value: (name: string, options: object, fn: () => Promise<unknown>) =>
              turn.step(name, options, async () => {
                const result = await fn();
                order.push('recorded');
                return result as never;
              }),
          },
        });
        await recordedIn(noting, model).read(order);
      });
      expect(order).toEqual(['a', 'recorded', type, 'b', 'finish']);
    },
  );

  it.each([
    ['stop', true],
    ['length', true],
    ['content-filter', true],
    ['tool-calls', true],
    ['other', true],
    ['error', false],
    ['unknown', false],
  ])('that ends with %s is kept: %s', async (reason, isKept) => {
    const { model, prompts } = modelOf([finish(reason)], [say('again'), finish()]);
    const { steps } = await inTurn(async (turn) => {
      const { read, calls } = recordedIn(turn, model);
      await read();
      if (!isKept) expect((await read()).order).toEqual(['again', 'finish']);
      calls.close();
    });
    expect([Object.keys(steps), prompts.length]).toEqual([['model 1'], isKept ? 1 : 2]);
  });

  it.each<[string, Part[]]>([
    ['an error in it', [{ type: 'error', error: 'x' }, finish()]],
    ['no end', [say('half')]],
  ])('with %s is not kept, and the next call takes its place', async (_what, parts) => {
    const { model } = modelOf(parts, [say('again'), finish()]);
    const { steps } = await inTurn(async (turn) => {
      const { read } = recordedIn(turn, model);
      await read();
      return read();
    });
    expect(Object.keys(steps)).toEqual(['model 1']);
    expect(JSON.stringify(steps)).toContain('again');
  });

  it('that cannot be begun is not kept', async () => {
    const { model } = modelOf(new Error('No key'), [say('again'), finish()]);
    const { given, steps } = await inTurn(async (turn) => {
      const { read } = recordedIn(turn, model);
      await expect(read()).rejects.toThrow('No key');
      return read();
    });
    expect([given.order, Object.keys(steps)]).toEqual([['again', 'finish'], ['model 1']]);
  });
});

describe('the whole answer of a model', () => {
  it('is a step, which a later attempt gets without a call', async () => {
    const { model, prompts } = modelOf(new Error('No key'), [say('a')]);
    const generate = async (turn: Turn) =>
      (await recordedIn(turn, model).recorded.doGenerate({ prompt: [] })).content;
    const first = await inTurn(async (turn) => {
      const { recorded } = recordedIn(turn, model);
      await expect(recorded.doGenerate({ prompt: [] })).rejects.toThrow('No key');
      return (await recorded.doGenerate({ prompt: [] })).content;
    });
    expect(Object.keys(first.steps)).toEqual(['model 1']);
    const second = await inTurn(generate, { attempt: 2, steps: first.steps });
    expect([second.given, prompts.length]).toEqual([first.given, 2]);
  });

  it('is not taken for a stream, nor a stream for it', async () => {
    const parts = [say('a'), finish()];
    const stream = await inTurn(async (turn) => recordedIn(turn, modelOf(parts).model).read());
    const { model, prompts } = modelOf(parts);
    const asked = inTurn(async (turn) => recordedIn(turn, model).recorded.doGenerate({ prompt: [] }), {
      attempt: 2,
      steps: stream.steps,
    });
    await asked.catch(() => {});
    expect(prompts).toHaveLength(1);
  });
});

it('a model is told that every address can be fetched, and can be named', async () => {
  await inTurn(async (turn) => {
    const { recorded } = recordedIn(turn, modelOf().model);
    expect(Object.keys(await recorded.supportedUrls)).toEqual(['*/*']);
    const { AI_SDK_DEFAULT_PROVIDER: before } = globalThis;
    const named: string[] = [];
    const { model } = modelOf([finish()]);
    globalThis.AI_SDK_DEFAULT_PROVIDER = {
      languageModel(name: string) {
        named.push(name);
        return model;
      },
    } as never;
    try {
      recordedModel('a/b', recordedCalls<StoredCall>(turn, 'model'), () => {});
    } finally {
      globalThis.AI_SDK_DEFAULT_PROVIDER = before;
    }
    expect(named).toEqual(['a/b']);
    const gateway = recordedModel(
      'a/b',
      recordedCalls<StoredCall>(turn, 'model'),
      () => {},
    ) as LanguageModelV4;
    expect(gateway.modelId).toBe('a/b');
  });
});

describe('calls of one name', () => {
  it('are numbered as they begin, and a failed one gives its number to the next', async () => {
    const { steps } = await inTurn(async (turn) => {
      const calls = recordedCalls<string>(turn, 'x');
      const [one, two] = [calls.begin(), calls.begin()];
      expect(await Promise.all([one.recorded(), two.recorded()])).toEqual([undefined, undefined]);
      one.fail({ ms: 1 });
      const again = calls.begin();
      expect(await again.recorded()).toBeUndefined();
      await again.complete('one');
      await two.complete('two');
      const three = calls.begin();
      await three.recorded();
      await three.complete('three');
      calls.close();
    });
    expect(steps).toEqual({ 'x 1': 'one', 'x 2': 'two', 'x 3': 'three' });
  });

  it('reject to nobody where the turn ends while one is made', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const over = Promise.withResolvers<never>();
    const calls = recordedCalls<string>({ step: () => over.promise } as never, 'x');
    calls.begin();
    over.reject(new Error('The turn is over'));
    for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  it('that are not made again end their steps', async () => {
    const ended: unknown[] = [];
    const turn = {
      step: (name: string, _: object, fn: () => Promise<unknown>) =>
        fn().catch((error: Error) => ended.push([name, error.message])),
    } as unknown as Turn;
    const calls = recordedCalls<string>(turn, 'x');
    calls.begin().fail({ ms: 1 });
    const open = calls.begin();
    await open.recorded();
    calls.close();
    await expect.poll(() => ended).toEqual([['x 1', 'The call failed']]);
    const done = recordedCalls<string>(
      { step: (_: string, __: object, fn: () => unknown) => fn() } as never,
      'y',
    );
    await done.begin().complete('y');
    done.close();
  });
});

it('a stream ends with its generator, and ends it when its reader leaves', async () => {
  const done: string[] = [];
  async function* values() {
    try {
      yield 1;
      yield 2;
    } finally {
      done.push('ended');
    }
  }
  const all: number[] = [];
  for await (const each of streamOf(values())) all.push(each);
  expect([all, done]).toEqual([[1, 2], ['ended']]);
  const reader = streamOf(values()).getReader();
  expect(await reader.read()).toEqual({ done: false, value: 1 });
  await reader.cancel();
  expect(done).toEqual(['ended', 'ended']);
});
