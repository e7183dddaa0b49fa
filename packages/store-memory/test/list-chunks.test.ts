import { describe, expect, it } from 'vitest';
import { SortedList } from '../src/order/sorted-list.ts';

/** Even numbers from 0, enough for three chunks of 256. */
const size = 700;
const numbers = Array.from({ length: size }, (_, n) => 2 * n);
const ups = numbers;
const downs = numbers.toReversed();
/** Each number once: 700 and 271 have no common factor. */
const mixed = numbers.map((_, n) => 2 * ((n * 271) % size));

function listOf(items: readonly number[]) {
  const count = { comparisons: 0 };
  const list = new SortedList<number>((a, b) => {
    count.comparisons++;
    return a - b;
  });
  for (const item of items) list.add(item);
  return { list, count };
}

/** What the list says must be what a sorted array says, at every position and between. */
function check(list: SortedList<number>, expected: readonly number[]): void {
  expect(list.length).toBe(expected.length);
  expect([...list.ascending()]).toEqual(expected);
  expect([...list.descending()]).toEqual(expected.toReversed());
  for (const pivot of [-1, 0, 1, 2, 509, 510, 511, 512, 513, 514, 1_023, 1_024, 1_398, 1_399, 5_000]) {
    const before = expected.filter((item) => item < pivot);
    expect([pivot, list.rank(pivot)]).toEqual([pivot, before.length]);
    expect([pivot, ...list.descending(pivot)]).toEqual([pivot, ...before.toReversed()]);
  }
}

describe('a list of several chunks', () => {
  it.each([
    ['ascending', ups],
    ['descending', downs],
    ['mixed', mixed],
  ])('is in order, whatever was added in %s order and is removed', (_, order) => {
    const { list } = listOf(order);
    check(list, numbers);
    for (const absent of [-1, 1, 511, 5_000]) list.remove(absent);
    check(list, numbers);
    const odd = numbers.filter((item) => item % 4 === 2);
    for (const item of order) if (item % 4 === 0) list.remove(item);
    check(list, odd);
    for (const item of order) if (item % 4 === 0) list.add(item);
    check(list, numbers);
    for (const item of order) list.remove(item);
    check(list, []);
    list.remove(0);
    list.add(4);
    check(list, [4]);
  });

  it.each([
    ['ascending', ups],
    ['descending', downs],
    ['mixed', mixed],
  ])('compares as often as two binary searches do, if it was filled in %s order', (_, order) => {
    const { list, count } = listOf(order);
    const costOf = (use: () => unknown) => {
      count.comparisons = 0;
      use();
      return count.comparisons;
    };
    // At most 6 chunks of at most 256 items: 3 comparisons and 9.
    for (const item of [1, 301, 511, 901, 1_399]) {
      expect(costOf(() => list.rank(item))).toBeLessThanOrEqual(12);
      expect(costOf(() => list.descending(item).next())).toBeLessThanOrEqual(12);
      // Two more than a search: whether the item comes last, and whether it comes near the end.
      expect(costOf(() => list.add(item))).toBeLessThanOrEqual(13);
      expect(costOf(() => list.remove(item))).toBeLessThanOrEqual(13);
    }
  });

  it('compares an item with none but the last eight, if no more come after it', () => {
    for (const after of [0, 1, 3, 7]) {
      const { list, count } = listOf(ups);
      count.comparisons = 0;
      list.add(2 * (size - 1 - after) + 1);
      expect(count.comparisons).toBe(after === 0 ? 1 : 2 + after);
      check(
        list,
        [...ups, 2 * (size - 1 - after) + 1].sort((a, b) => a - b),
      );
    }
  });

  it('is read from its end without comparing anything', () => {
    const list = new SortedList<{ readonly n: number }>((a, b) => a.n - b.n);
    for (const n of numbers) list.add({ n });
    expect([...list.descending()].map(({ n }) => n)).toEqual(downs);
  });
});
