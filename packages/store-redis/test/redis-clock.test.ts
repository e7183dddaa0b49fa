import { expect, it } from 'vitest';
import { RedisClock } from '../src/rows/redis-clock.ts';

it('before the first answer, the clock of Redis is taken for that of this process', () => {
  const before = Date.now();
  const { now } = new RedisClock().moment();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

it('the clock of Redis is never behind its last answer, and never ahead of it', () => {
  const clock = new RedisClock();
  const answer = (time: number, tookMs: number) => {
    const asked = clock.asked() - tookMs;
    expect(clock.answered(asked, time)).toEqual({ now: time, orderNow: time, leaseNow: time });
    const { leaseNow } = clock.moment();
    expect(leaseNow).toBeGreaterThanOrEqual(time);
    expect(leaseNow).toBeLessThanOrEqual(time + clock.asked() - asked);
  };
  // Redis is far behind this process, and is set forwards, by a little and by much, then back.
  answer(1_000, 500);
  answer(1_400, 0);
  answer(900_000, 300);
  answer(5_000, 0);
});

it('people are told whole milliseconds, and those of a lease are exact', () => {
  const clock = new RedisClock();
  expect(clock.answered(clock.asked(), 1_234.5)).toEqual({ now: 1_234, orderNow: 1_234, leaseNow: 1_234.5 });
});
