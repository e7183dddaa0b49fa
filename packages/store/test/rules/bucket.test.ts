import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takenFrom } from '../../src/rules.ts';

const rates = fc.record({
  burst: fc.integer({ min: 1, max: 50 }),
  everyMs: fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0.01, max: 1_000, noNaN: true })),
});

/** Times of clocks that count fractions of a millisecond since they started. */
const instants = fc.double({ min: 0, max: 1e6, noNaN: true });

describe('a bucket', () => {
  it('gives in any time at most the burst, and one more for each interval', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 });
    fc.assert(
      fc.property(rates, gaps, (rate, pauses) => {
        const taken: number[] = [];
        let fullAt: number | undefined;
        let now = 1.7e12;
        for (const pause of pauses) {
          now += pause % (rate.everyMs * 2);
          const after = takenFrom(fullAt, rate, now);
          fullAt = after.fullAt;
          if (after.waitMs === 0) taken.push(now);
        }
        for (const [from, start] of taken.entries())
          for (const [until, end] of taken.entries()) {
            if (until < from) continue;
            // A hundredth of an interval is for what sums of fractions lose.
            const most = rate.burst + (end - start) / rate.everyMs + 0.02;
            expect(until - from + 1).toBeLessThanOrEqual(most);
          }
      }),
      { numRuns: 60 },
    );
  });

  it('that was not asked for long has its burst, and no more', () => {
    const rate = { burst: 2, everyMs: 10 };
    let fullAt: number | undefined = 5;
    const waits = Array.from({ length: 3 }, () => {
      const after = takenFrom(fullAt, rate, 1_000);
      fullAt = after.fullAt;
      return after.waitMs;
    });
    expect(waits).toEqual([0, 0, 10]);
  });

  it('has one when the wait is over that it named', () => {
    fc.assert(
      fc.property(rates, instants, fc.integer({ min: 0, max: 100 }), (rate, now, count) => {
        let fullAt: number | undefined;
        for (let n = 0; n < rate.burst + count; n++) fullAt = takenFrom(fullAt, rate, now).fullAt;
        const { waitMs } = takenFrom(fullAt, rate, now);
        expect(waitMs).toBeGreaterThan(0);
        expect(waitMs).toBeLessThanOrEqual(rate.everyMs);
        expect(takenFrom(fullAt, rate, now + waitMs).waitMs).toBe(0);
      }),
    );
  });

  it('fills by the new clock or rate, whatever was stored by the old one', () => {
    const rate = { burst: 2, everyMs: 100 };
    const first = takenFrom(9e15, rate, 0);
    expect(first).toEqual({ fullAt: 200, waitMs: 100 });
    expect(takenFrom(first.fullAt, rate, 100).waitMs).toBe(0);
  });

  it.each([
    [100, 1],
    [50, 0.5],
  ])('that gets one every %i ms takes a wait of %f ms for none', (everyMs, missing) => {
    expect(takenFrom(1_000 + missing, { burst: 1, everyMs }, 1_000).waitMs).toBe(0);
    expect(takenFrom(1_002, { burst: 1, everyMs }, 1_000).waitMs).toBe(2);
  });
});
