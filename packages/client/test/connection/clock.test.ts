import { expect, it } from 'vitest';
import { systemClock } from '../../src/options/connect-options.ts';

it.each([2 ** 31, 1e15])('a pause of %d ms does not end at once', async (ms) => {
  const waiting = new AbortController();
  let isOver = false;
  const slept = systemClock.sleep(ms, waiting.signal).then(() => {
    isOver = true;
  });
  // A timer whose delay does not fit fires before this one.
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isOver).toBe(false);
  waiting.abort();
  await slept;
});
