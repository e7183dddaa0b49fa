import { expect, it } from 'vitest';
import { loadEach } from '../../../src/turns/context/references.ts';

/** What is loaded at once, of items with these weights in kilobytes, until so many were taken. */
async function loaded(weights: readonly number[], take = Number.POSITIVE_INFINITY) {
  const groups: number[][] = [[]];
  const taken: number[] = [];
  const load = async (item: number) => {
    groups.at(-1)!.push(item);
    await Promise.resolve();
    return { item, weight: weights[item]! * 1_024 };
  };
  if (take > 0)
    for await (const { item } of loadEach([...weights.keys()], load)) {
      taken.push(item);
      if (taken.length === take) break;
      // What is loaded next belongs to another group.
      if (groups.at(-1)!.at(-1) === item) groups.push([]);
    }
  return { groups: groups.filter((group) => group.length > 0), taken };
}

it('the first alone, then a few at once while they are small', async () => {
  const { groups, taken } = await loaded([1, 256, 1, 1, 1, 1, 1, 1]);
  expect(groups).toEqual([[0], [1, 2, 3, 4], [5, 6, 7]]);
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

it('one by one after a large one, until they are small again', async () => {
  const { groups } = await loaded([1, 1, 257, 1, 1, 300, 1, 1, 1]);
  expect(groups).toEqual([[0], [1, 2, 3, 4], [5], [6], [7, 8]]);
});

it('nothing more than what is wanted, and a few', async () => {
  expect((await loaded([1, 1, 1, 1, 1, 1, 1], 1)).groups).toEqual([[0]]);
  expect((await loaded([1, 1, 1, 1, 1, 1, 1], 2)).groups).toEqual([[0], [1, 2, 3, 4]]);
  expect((await loaded([])).groups).toEqual([]);
});
