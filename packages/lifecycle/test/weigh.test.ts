import { weigh } from '@batonjs/lifecycle/internals';
import { describe, expect, it } from 'vitest';

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

describe('a value of many bytes', () => {
  const counted = () => {
    const counts = { reads: 0 };
    const value = {
      get text() {
        counts.reads++;
        return 'x'.repeat(5_000);
      },
    };
    return { value, counts };
  };

  it('is walked once if it is frozen', () => {
    const { value, counts } = counted();
    Object.freeze(value);
    expect([weigh(value), weigh(value), counts.reads]).toEqual([5_012, 5_012, 1]);
  });

  it('is weighed again if it may have changed', () => {
    const value = { text: 'x'.repeat(5_000) };
    expect(weigh(value)).toBe(5_012);
    value.text += 'y';
    expect(weigh(value)).toBe(5_013);
  });
});
