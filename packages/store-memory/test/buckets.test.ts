import { expect, it } from 'vitest';
import { Buckets } from '../src/buckets.ts';

it('Full buckets are dropped by and by, and others are not', () => {
  const buckets = new Buckets();
  const slow = { burst: 1, everyMs: 1e9 };
  buckets.take('slow', slow, 0);
  for (let n = 0; n < 10_000; n++) buckets.take(`b${n}`, { burst: 1, everyMs: 1 }, n * 2);
  expect(buckets.size).toBeLessThanOrEqual(1_001);
  expect(buckets.take('slow', slow, 20_000)).toBeGreaterThan(0);
});

it('A take drops a few buckets at most, however many there are', () => {
  const buckets = new Buckets();
  for (let n = 0; n < 10_000; n++) buckets.take(`b${n}`, { burst: 1, everyMs: 1 }, 0);
  expect(buckets.size).toBe(10_000);
  let most = 0;
  for (let n = 0; n < 15_000; n++) {
    const before = buckets.size;
    buckets.take('again', { burst: 1, everyMs: 1 }, 10 + 2 * n);
    most = Math.max(most, before - buckets.size);
  }
  expect(most).toBeLessThanOrEqual(2);
  expect(buckets.size).toBe(1);
});
