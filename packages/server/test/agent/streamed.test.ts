import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { coalesce, streamed } from '../../src/index.ts';

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
async function* words(...texts: string[]) {
  yield* texts;
}

it('puts text out as soon as there is enough of it, and the rest at the end', async () => {
  const options = { bytes: 4, ms: 60_000 };
  expect(await collect(coalesce(words('a', 'b', 'cdef', 'ä', 'ö', 'x'), options))).toEqual([
    'abcdef',
    'äö',
    'x',
  ]);
  expect(await collect(coalesce(words(), options))).toEqual([]);
});

it('puts text out after a while although there is little of it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* slow() {
    yield 'early';
    await promise;
    yield 'late';
  }
  const texts: string[] = [];
  for await (const text of coalesce(slow(), { bytes: 1_000, ms: 1 })) {
    texts.push(text);
    // What comes later waits for this: it would never come if all were collected first.
    resolve();
  }
  expect(texts).toEqual(['early', 'late']);
});

it('puts text out after a while although more of it keeps coming', async () => {
  let isOut = false;
  let hasEnded = false;
  async function* steady() {
    for (let n = 0; n < 500 && !isOut; n++) {
      yield 'x';
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    hasEnded = true;
  }
  for await (const _ of coalesce(steady(), { bytes: 100_000, ms: 20 })) {
    // It would come at the end of the source, if each piece made the others wait longer.
    expect(hasEnded).toBe(false);
    isOut = true;
  }
  expect(isOut).toBe(true);
});

it('fails as its source does', async () => {
  async function* broken() {
    yield 'x';
    throw new Error('gone');
  }
  await expect(collect(coalesce(broken()))).rejects.toThrow('gone');
});

it('refuses a source that ends without any text', async () => {
  await expect(collect(streamed('answer', words()))).rejects.toThrow('"answer" ended without any text');
});

describe('with a signal that is aborted', () => {
  const reason = new Error('canceled');
  /** A source that gives one text and then waits for the signal, to stop as models do. */
  async function* until(signal: AbortSignal, stop: () => void) {
    yield 'half';
    const heard = untilAborted(signal);
    await heard;
    stop();
  }

  it.each([
    ['ends early', () => {}],
    [
      'throws an error of its own',
      () => {
        throw new Error('model failed');
      },
    ],
    ['gives more text', undefined],
  ])('rejects with its reason where the source %s', async (_what, stop) => {
    const controller = new AbortController();
    const { signal } = controller;
    async function* source() {
      yield* until(signal, stop ?? (() => {}));
      if (!stop) yield 'more';
    }
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const update of streamed('answer', source(), { bytes: 1, signal })) {
        seen.push(update);
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(seen).toHaveLength(1);
  });

  it('rejects although the source waits forever', async () => {
    const controller = new AbortController();
    async function* source() {
      yield 'half';
      controller.abort(reason);
      await new Promise(() => {});
    }
    await expect(collect(streamed('answer', source(), { signal: controller.signal }))).rejects.toBe(reason);
  });

  it('rejects although the source never gives anything', async () => {
    const controller = new AbortController();
    async function* source(): AsyncGenerator<string> {
      setImmediate(() => controller.abort(reason));
      await new Promise(() => {});
    }
    await expect(collect(streamed('answer', source(), { signal: controller.signal }))).rejects.toBe(reason);
  });

  it('rejects where it is aborted after the last text', async () => {
    const controller = new AbortController();
    const reading = async () => {
      for await (const _ of streamed('answer', words('all'), { signal: controller.signal }))
        controller.abort(reason);
    };
    await expect(reading()).rejects.toBe(reason);
  });
});

it('makes one artifact, then appends to it', async () => {
  const updates = await collect(streamed('answer', words('one', 'two'), { bytes: 1 }));
  expect(updates).toMatchObject([
    { artifact: { artifactId: 'answer', name: 'answer', parts: [{ text: 'one' }] } },
    { artifact: { artifactId: 'answer', parts: [{ text: 'two' }] }, append: true },
  ]);
});

it('ends with the whole text once more where that is wanted', async () => {
  const updates = await collect(streamed('answer', words('one', 'two'), { bytes: 1, whole: true }));
  expect(updates.slice(2)).toEqual([
    { artifact: { artifactId: 'answer', name: 'answer', parts: [{ text: 'onetwo' }] }, lastChunk: true },
  ]);
});
