import { expect, it } from 'vitest';
import { endOfRound } from '../src/end-of-round.ts';

it('requests that wait for the end of the same round continue in step', async () => {
  const steps: string[] = [];
  const go = async (name: string) => {
    await endOfRound();
    steps.push(`${name} 1`);
    await undefined;
    steps.push(`${name} 2`);
  };
  await Promise.all([go('a'), new Promise((resolve) => process.nextTick(() => resolve(go('b'))))]);
  expect(steps).toEqual(['a 1', 'b 1', 'a 2', 'b 2']);
});

it('the end of a round of the event loop comes after its callbacks, and each round has its own', async () => {
  const steps: string[] = [];
  process.nextTick(() => steps.push('what was there'));
  const first = endOfRound();
  await first;
  steps.push('the end');
  expect(steps).toEqual(['what was there', 'the end']);
  expect(endOfRound()).not.toBe(first);
});

it('the 64th that waits for the end of a round ends the wait of all', async () => {
  const steps: string[] = [];
  await endOfRound();
  setImmediate(() => steps.push('the next round'));
  await Promise.all(Array.from({ length: 64 }, () => endOfRound().then(() => steps.push('on'))));
  expect(steps).toEqual(Array.from({ length: 64 }, () => 'on'));
  await endOfRound();
  expect(steps.at(-1)).toBe('the next round');
});
