import type { Fact } from '@batonjs/lifecycle';
import { expect, it } from 'vitest';
import { factsInOrder } from '../../src/rules.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const woken = (second: number): Fact => ({ format: 1, at: at(second), type: 'woken' });
const open = (...seconds: number[]) => ({ expectedVersion: 'open', facts: seconds.map(woken) }) as const;

it.each([
  ['after the last fact', open(5, 6), at(4), [5, 6]],
  ['at the time of the last fact', open(4, 4), at(4), [4, 4]],
  ['before the last fact', open(2, 3, 9), at(4), [4, 4, 9]],
  ['that go back among themselves', open(5, 3, 6, 4), at(4), [5, 5, 6, 6]],
  ['of a log whose last fact has no time', open(5, 3), undefined, [5, 5]],
] as const)('facts of an open append %s have times that never go back', (_, commit, lastAt, expected) => {
  expect(factsInOrder(commit, lastAt).map((fact) => fact.at)).toEqual(expected.map(at));
});

it('facts whose time need not change are kept, not copied', () => {
  const commit = open(4, 5, 3);
  const [first, second, third] = factsInOrder(commit, at(4));
  expect([first, second]).toEqual(commit.facts.slice(0, 2));
  expect([first === commit.facts[0], second === commit.facts[1], third === commit.facts[2]]).toEqual([
    true,
    true,
    false,
  ]);
  expect(third).toEqual(woken(5));
});

it('facts of a writer that knows the log keep their times', () => {
  const facts = [woken(3), woken(2)];
  expect(factsInOrder({ expectedVersion: 1, facts }, at(4))).toBe(facts);
});
