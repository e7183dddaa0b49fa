import { afterEach, expect, it, vi } from 'vitest';
import { DatabaseClock } from '../src/adapter.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('before the first answer, a minute after the last one, and after the host slept, the clock is not known', () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const clock = new DatabaseClock();
  expect(clock.moment()).toBeUndefined();
  clock.answered(clock.asked(), 1_000);
  vi.advanceTimersByTime(60_000);
  expect(clock.moment()).toMatchObject({ now: 61_000 });
  vi.advanceTimersByTime(1);
  expect(clock.moment()).toBeUndefined();
  clock.answered(clock.asked(), 2_000);
  vi.setSystemTime(Date.now() + 1_001);
  expect(clock.moment()).toBeUndefined();
  clock.answered(clock.asked(), 3_000);
  expect(clock.moment()).toMatchObject({ now: 3_000 });
});

it('the clock of a database is never behind its last answer, and never ahead of it', () => {
  const clock = new DatabaseClock();
  const answer = (time: number, tookMs: number) => {
    const asked = clock.asked() - tookMs;
    expect(clock.answered(asked, time)).toEqual({ now: time, orderNow: time, leaseNow: time });
    const { leaseNow } = clock.moment()!;
    expect(leaseNow).toBeGreaterThanOrEqual(time);
    expect(leaseNow).toBeLessThanOrEqual(time + clock.asked() - asked);
  };
  // The database is far behind this process, and is set forwards, by a little and by much, then back.
  answer(1_000, 500);
  answer(1_400, 0);
  answer(900_000, 300);
  answer(5_000, 0);
});

it('people are told whole milliseconds, and those of a lease are exact', () => {
  const clock = new DatabaseClock();
  expect(clock.answered(clock.asked(), 1_234.5)).toEqual({ now: 1_234, orderNow: 1_234, leaseNow: 1_234.5 });
});

it('an answer that puts the clock back by a little does not put it back, and one by much does', () => {
  const clock = new DatabaseClock();
  const now = (time: number) => {
    clock.answered(clock.asked(), time);
    return clock.moment()!.leaseNow;
  };
  const first = now(10_000);
  expect(now(9_950)).toBeGreaterThanOrEqual(first);
  expect(now(5_000)).toBeLessThan(6_000);
});
