import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedList } from '../src/order/sorted-list.ts';

/** A list that counts how often two items are compared. */
function counting() {
  const count = { comparisons: 0 };
  const list = new SortedList<number>((a, b) => {
    count.comparisons++;
    return a - b;
  });
  return { list, count };
}

const take = <T>(items: Iterable<T>, limit: number): T[] => {
  const taken: T[] = [];
  for (const item of items) {
    if (taken.length === limit) break;
    taken.push(item);
  }
  return taken;
};

describe('a sorted list', () => {
  it('holds what a sorted array would hold, whatever is added and removed', () => {
    const operations = fc.array(fc.tuple(fc.boolean(), fc.nat(2_000)), { maxLength: 3_000, size: 'max' });
    fc.assert(
      fc.property(operations, fc.nat(2_000), (steps, pivot) => {
        const { list } = counting();
        const model = new Set<number>();
        for (const [adds, item] of steps) {
          if (!adds) list.remove(item);
          else if (!model.has(item)) list.add(item);
          if (adds) model.add(item);
          else model.delete(item);
        }
        const sorted = [...model].sort((a, b) => a - b);
        const before = sorted.filter((item) => item < pivot);
        expect(list.length).toBe(sorted.length);
        expect([...list.ascending()]).toEqual(sorted);
        expect([...list.descending()]).toEqual(sorted.toReversed());
        expect([...list.descending(pivot)]).toEqual(before.toReversed());
        expect(list.rank(pivot)).toBe(before.length);
      }),
      { numRuns: 30 },
    );
  });

  it('reads about as many of 100,000 items as of 1,000', () => {
    const costOf = (size: number) => {
      const { list, count } = counting();
      for (let n = 0; n < size; n++) list.add((n * 7_919) % 1_000_003);
      count.comparisons = 0;
      for (let n = 0; n < 100; n++) {
        const item = (n * 104_729) % 1_000_003;
        list.add(item + 0.5);
        list.rank(item);
        expect(take(list.descending(item), 50).length).toBeLessThanOrEqual(50);
        list.remove(item + 0.5);
      }
      return count.comparisons;
    };
    expect(costOf(100_000)).toBeLessThan(2.5 * costOf(1_000));
  });
});
