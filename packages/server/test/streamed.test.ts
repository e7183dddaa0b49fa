import { expect, it } from 'vitest';
import { coalesce, streamed } from '../src/index.ts';

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

it('fails as its source does', async () => {
  async function* broken() {
    yield 'x';
    throw new Error('gone');
  }
  await expect(collect(coalesce(broken()))).rejects.toThrow('gone');
});

it('makes one artifact, then appends to it', async () => {
  const updates = await collect(streamed('answer', words('one', 'two'), { bytes: 1 }));
  expect(updates).toMatchObject([
    { artifact: { artifactId: 'answer', name: 'answer', parts: [{ text: 'one' }] } },
    { artifact: { artifactId: 'answer', parts: [{ text: 'two' }] }, append: true },
  ]);
});
