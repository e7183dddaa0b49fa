import { expect, it } from 'vitest';
import { roundLimit } from '../../../src/base/timing/round-limit.ts';

const round = () => new Promise((resolve) => setImmediate(resolve));

it('lets so many callers continue at once, and as many of the others in each round after it, in order', async () => {
  const enter = roundLimit(2);
  const entered: number[] = [];
  const atOnce: number[] = [];
  for (let n = 0; n < 5; n++) {
    const later = enter();
    if (later) void later.then(() => entered.push(n));
    else atOnce.push(n);
  }
  expect(atOnce).toEqual([0, 1]);
  await round();
  expect(entered).toEqual([2, 3]);
  expect(enter()).toBeInstanceOf(Promise);
  await round();
  expect(entered).toEqual([2, 3, 4]);
  await round();
  await round();
  expect(enter()).toBeUndefined();
});
