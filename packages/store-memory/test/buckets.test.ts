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
