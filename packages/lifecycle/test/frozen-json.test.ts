import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frozenJson } from '../src/values/frozen-json.ts';

const isFrozen = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every(isFrozen));

describe('a frozen copy', () => {
  it('is what JSON would make of it, and frozen to the bottom', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = frozenJson(value);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        expect(isFrozen(copy)).toBe(true);
      }),
    );
  });

  it.each<[string, unknown]>([
    ['absent members', { a: undefined, b: { c: undefined, d: 1 }, e: [undefined, 1] }],
    ['functions and symbols', { a: () => 1, b: Symbol('b'), c: [() => 1], d: 2 }],
    ['numbers that are none', { a: Number.NaN, b: [Number.POSITIVE_INFINITY] }],
    ['dates and urls', { a: new Date(0), b: [new URL('https://example.com/')], c: new Map([[1, 2]]) }],
    ['objects that leave themselves out', { a: { toJSON: () => undefined }, b: [{ toJSON() {} }], c: 1 }],
    ['objects without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['a member named like the prototype', JSON.parse('{"__proto__":{"a":1}}')],
  ])('treats %s as JSON does', (_, value) => {
    const copy = frozenJson(value);
    expect(copy).toEqual(JSON.parse(JSON.stringify(value)));
    expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
    expect(isFrozen(copy)).toBe(true);
  });

  it('leaves the original as it was', () => {
    const original = { a: [{ b: 1 }] };
    const copy = frozenJson(original);
    original.a[0]!.b = 2;
    expect(Object.isFrozen(original)).toBe(false);
    expect(copy).toEqual({ a: [{ b: 1 }] });
  });

  it('refuses what JSON cannot say', () => {
    expect(() => frozenJson({ a: 1n })).toThrow(TypeError);
  });

  it('of a frozen value is that value, and of other values than objects what JSON makes of them', () => {
    const frozen = Object.freeze({ a: 1 });
    expect(frozenJson(frozen)).toBe(frozen);
    expect(frozenJson({ a: frozen }).a).toEqual(frozen);
    expect(frozenJson(Number.NaN)).toBeNull();
    expect(frozenJson(Symbol('s'))).toBeUndefined();
    expect(frozenJson('text')).toBe('text');
  });

  it('has no member for an absent value, and the value of a boxed one', () => {
    expect(Object.keys(frozenJson({ a: undefined }))).toEqual([]);
    expect(frozenJson({ a: Object(5), b: Object('x'), c: Object(true) })).toStrictEqual({
      a: 5,
      b: 'x',
      c: true,
    });
  });
});
