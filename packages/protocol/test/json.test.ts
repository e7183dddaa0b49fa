import { expect, it } from 'vitest';
import { isSameJson } from '../src/values/json.ts';

it.each([
  ['members in another order', { a: 1, b: [{ c: null, d: 'x' }] }, { b: [{ d: 'x', c: null }], a: 1 }, true],
  ['another value deep inside', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
  ['elements in another order', [1, 2], [2, 1], false],
  ['a member more', { a: 1 }, { a: 1, b: undefined }, false],
  ['another member', { a: undefined }, { b: undefined }, false],
  ['a list and an object with its members', ['x'], { 0: 'x' }, false],
  ['nothing and an empty object', null, {}, false],
  ['a number and its text', 1, '1', false],
  ['an inherited member', JSON.parse('{"toString":1}'), { valueOf: 1 }, false],
])('compares %s', (_, one, other, same) => {
  expect(isSameJson(one, other)).toBe(same);
  expect(isSameJson(other, one)).toBe(same);
});
