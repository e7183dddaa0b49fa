import { expect, it } from 'vitest';
import { stallWatch } from '../../src/turns/heartbeat.ts';

/** A watch of a process with leases of ten seconds, on a clock that the test moves. */
function watching(leaseMs = 10_000) {
  let time = 7_000;
  let wake = () => {};
  const slept: number[] = [];
  const lines: unknown[][] = [];
  const clock = {
    monotonic: () => time,
    sleep: (ms: number) => {
      slept.push(ms);
      return new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
  };
  const logger = (...line: unknown[]) => lines.push(line);
  const watch = stallWatch({ clock, logger, options: { timeouts: { leaseMs } } } as never);
  return {
    ...{ watch, slept, lines, now: () => time },
    /** The watch wakes after so long. */
    async pass(ms: number) {
      time += ms;
      wake();
      for (let n = 0; n < 5; n++) await Promise.resolve();
    },
    move: (ms: number) => {
      time += ms;
    },
  };
}

it('an event loop that is blocked for a tenth of a lease is logged, with for how long and how many turns', async () => {
  const { watch, slept, lines, pass } = watching();
  watch.turnStarts();
  watch.turnStarts();
  expect(slept).toEqual([500]);
  await pass(500 + 999);
  expect(lines).toEqual([]);
  await pass(500 + 1_000);
  const details = { ms: 1_000, latestTaskId: undefined, turns: 2 };
  expect(lines).toEqual([['warn', 'The event loop was blocked', details]]);
  expect(slept).toEqual([500, 500, 500]);
});

it('the least that is logged are 200 ms', async () => {
  const { watch, slept, lines, pass } = watching(300);
  watch.turnStarts();
  await pass(100 + 199);
  await pass(100 + 200);
  expect([slept, lines.length]).toEqual([[100, 100, 100], 1]);
});

it('the agent that was called last before it is named, not those that were called after it', async () => {
  const { watch, lines, pass, move, now } = watching();
  watch.turnStarts();
  watch.enter('first', now());
  watch.enter('culprit', now());
  move(500 + 2_000);
  watch.enter('third', now());
  watch.enter('fourth', now());
  await pass(0);
  // Only one that was called before the watch knows of it.
  await pass(500 + 1_500);
  expect(lines.map(([, , details]) => details)).toEqual([
    { ms: 2_000, latestTaskId: 'culprit', turns: 1 },
    { ms: 1_500, latestTaskId: 'fourth', turns: 1 },
  ]);
});

it('turns that ended meanwhile count, and without turns nothing is watched until the next one', async () => {
  const { watch, slept, lines, pass } = watching();
  watch.turnStarts();
  watch.turnEnds();
  await pass(500 + 1_000);
  expect(lines.map(([, , details]) => details)).toEqual([{ ms: 1_000, latestTaskId: undefined, turns: 1 }]);
  await pass(10_000);
  expect([slept.length, lines.length]).toEqual([1, 1]);
  watch.turnStarts();
  expect(slept).toHaveLength(2);
  await pass(500 + 1_000);
  expect(lines).toHaveLength(2);
});
