import { afterEach, expect, it, vi } from 'vitest';
import { steadyNow } from '../src/adapter.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('follows the wall clock forwards, does not go back with it, and meets it again', () => {
  // The clock is that of the process: it may be ahead already.
  let wall = steadyNow() + 1_000_000;
  let monotonic = performance.now() + 1_000_000;
  vi.spyOn(Date, 'now').mockImplementation(() => wall);
  vi.spyOn(performance, 'now').mockImplementation(() => monotonic);
  const pass = (ms: number) => {
    wall += ms;
    monotonic += ms;
    return steadyNow() - wall;
  };
  expect(steadyNow()).toBe(wall);
  expect(pass(1_000)).toBe(0);
  // Set forwards, as after a sleep of the computer.
  wall += 3_600_000;
  expect(pass(1_000)).toBe(0);
  // Set back: time goes on, at nine tenths of its speed.
  wall -= 1_000;
  expect(pass(0)).toBe(1_000);
  expect(pass(5_000)).toBe(500);
  expect(pass(5_000)).toBe(0);
  expect(pass(5_000)).toBe(0);
});
