import { describe, expect, it } from 'vitest';
import { stepsFrom } from '../src/layout.ts';

const names = { data: 'tasks.db', instead: 'a new file' };
const step = (from: number, to: number) => ({ from, to, run: () => {} });
const first = { current: 900, steps: [] };
const third = { current: 902, steps: [step(900, 901), step(901, 902)] };
const contracted = { current: 1_000, steps: [step(901, 902), step(902, 1_000)] };

describe('the layout of stored data', () => {
  it.each([
    ['of its own number', first, 900, []],
    ['kept as text', first, '900', []],
    ['of a newer release that only added', first, 902, []],
    ['of the release before', third, 901, [902]],
    ['of two releases before', third, 900, [901, 902]],
    ['of the generation before', contracted, 901, [902, 1_000]],
  ])('%s is read, after its steps', (_, layouts, found, to) => {
    expect(stepsFrom(found, layouts, names).map((one) => one.to)).toEqual(to);
  });

  it.each([
    ['before the first that is kept', first, 8, '900 only'],
    ['of a newer generation', third, 1_000, '900 to 902'],
    ['whose steps this release has no more', contracted, 900, '901 to 1000'],
    ['between two that are known', contracted, 950, '901 to 1000'],
    ['of no number', third, 'x', '900 to 902'],
    ['that is missing', third, undefined, '900 to 902'],
  ])('%s is refused by a sentence', (_, layouts, found, read) => {
    expect(() => stepsFrom(found, layouts, names)).toThrow(
      expect.objectContaining({
        code: 'UNUSABLE',
        message: `tasks.db was written by another release: its layout has number ${found}, and this release reads ${read}. Use a new file, or the release that wrote it`,
      }),
    );
  });
});
