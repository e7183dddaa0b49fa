import { expect, it } from 'vitest';
import { Buckets } from '../src/buckets.ts';

it('Full buckets are dropped by and by, and others are not', () => {
  const buckets = new Buckets();
  buckets.set('slow', 1e9, 0);
  for (let n = 0; n < 10_000; n++) buckets.set(`b${n}`, n * 2 + 1, n * 2);
  expect(buckets.size).toBeLessThanOrEqual(1_001);
  expect([buckets.get('slow'), buckets.get('b0')]).toEqual([1e9, undefined]);
});

it('A write drops a few buckets at most, however many there are', () => {
  const buckets = new Buckets();
  for (let n = 0; n < 10_000; n++) buckets.set(`b${n}`, 1, 0);
  expect(buckets.size).toBe(10_000);
  let most = 0;
  for (let n = 0; n < 15_000; n++) {
    const before = buckets.size;
    buckets.set('again', 11 + 2 * n, 10 + 2 * n);
    most = Math.max(most, before - buckets.size);
  }
  expect(most).toBeLessThanOrEqual(2);
  expect(buckets.size).toBe(1);
});
