import { describe, expect, it } from 'vitest';
import { simulate } from './toy-runner.ts';

const seeds = Array.from({ length: 12 }, (_, n) => n + 1);

describe('the fault kit and the history checker together', () => {
  it.each(seeds)('find nothing against runners that keep to the rules (seed %i)', async (seed) => {
    expect(await simulate(seed)).toEqual([]);
  });

  it.each(['fence', 'cas', 'commit-id', 'notification'] as const)(
    'notice that "%s" is missing',
    async (what) => {
      const found = [];
      for (const seed of seeds) found.push(...(await simulate(seed, what)));
      expect(found).not.toEqual([]);
    },
  );

  it('give the same history for the same seed', async () => {
    expect(await simulate(3, 'cas')).toEqual(await simulate(3, 'cas'));
  });
});
