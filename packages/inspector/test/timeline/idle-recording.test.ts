import { expect, it } from 'vitest';
import { holdTimers } from '../../../../test/kit/held-timers.ts';
import { Recording } from '../../src/timeline/recording.ts';
import { settled, stream, taskEvent } from './written-stream.ts';

it('a recording that nothing shows is left after half a minute, and has no timer once it is over', async () => {
  const timers = holdTimers((ms) => ms === 30_000);
  const one = stream();
  const recording = new Recording();
  recording.follow(one.open);
  one.send(taskEvent('WORKING'));
  await settled();
  expect(timers.open()).toEqual(['30000']);
  one.end();
  await settled();
  expect(timers.open()).toEqual([]);
  const two = stream();
  const idle = new Recording();
  idle.follow(two.open);
  await settled();
  timers.fire(30_000);
  expect(two.opened[0]?.signal.aborted).toBe(true);
});

it('a recording has no timer while something shows it, nor once it was stopped', async () => {
  const timers = holdTimers((ms) => ms === 30_000);
  const { open } = stream();
  const recording = new Recording();
  recording.follow(open);
  await settled();
  const feed = recording.feed({ after: 0, source: null }, new AbortController().signal);
  await feed.next();
  expect(timers.open()).toEqual([]);
  await feed.return();
  expect(timers.open()).toEqual(['30000']);
  recording.stop();
  expect(timers.open()).toEqual([]);
});
