import { weigh } from '@batonjs/lifecycle/internals';
import { expect, it } from 'vitest';

it.each<[string, object, number]>([
  ['an empty object', {}, 2],
  ['an empty list', [], 2],
  ['a text', { a: 'xyz' }, 2 + 5 + 5],
  ['a number', { a: 123_456 }, 2 + 5 + 4],
  ['true', { a: true }, 2 + 5 + 4],
  ['null', { a: null }, 2 + 5 + 4],
  ['an object in an object', { a: { b: 1 } }, 2 + 5 + 2 + 5 + 4],
  ['a list', { list: ['x', 1] }, 2 + 8 + 2 + (1 + 3) + (1 + 4)],
])('weighs %s', (_, value, expected) => {
  expect(weigh(value)).toBe(expected);
});
