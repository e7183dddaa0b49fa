import { expect, it } from 'vitest';
import { systemClock } from '../../src/base/timing/clock.ts';
import { runnerOf } from '../../src/turns/runner.ts';

/** A runner with this many places. */
const runnerWith = (turns: number) =>
  runnerOf(
    {
      clock: systemClock,
      options: { limits: { turns }, timeouts: { leaseMs: 10_000 } },
    } as unknown as Parameters<typeof runnerOf>[0],
    undefined as never,
  );

it('places that are kept for some turns are not given to others', () => {
  const runner = runnerWith(4);
  const first = runner.reserve(3);
  const second = runner.reserve(3);
  expect([first.turns, second.turns, runner.reserve(1).turns]).toEqual([3, 1, 0]);
  first.release();
  expect(runner.reserve(9).turns).toBe(3);
});

it('a place that becomes free is told to the one that got none, once', () => {
  const runner = runnerWith(1);
  let free = 0;
  runner.onFree(() => {
    free += 1;
  });
  const first = runner.reserve(1);
  expect(runner.reserve(1).turns).toBe(0);
  first.release();
  runner.reserve(1).release();
  expect(free).toBe(1);
});

it('a runner that is drained gives out no place any more, from the moment on at which its last one is free', async () => {
  const runner = runnerWith(2);
  const last = runner.reserve(1);
  const drained = runner.drain(60_000);
  last.release();
  expect(runner.reserve(1).turns).toBe(0);
  await drained;
});
