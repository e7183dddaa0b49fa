import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readJsonSchema } from '../../src/json-schema/read-json-schema.ts';

/** Definitions of which each refers to the next one twice. */
const doubling = (levels: number, pair: (ref: object) => object, end: object = { type: 'string' }) => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_, level) => [
      `d${level}`,
      level === levels - 1 ? end : pair({ $ref: `#/$defs/d${level + 1}` }),
    ]),
  ),
});
const twice: Record<string, (ref: object) => object> = {
  anyOf: (ref) => ({ anyOf: [ref, ref] }),
  oneOf: (ref) => ({ oneOf: [ref, ref] }),
  allOf: (ref) => ({ allOf: [ref, ref] }),
};
const nested = (levels: number): unknown =>
  Array.from({ length: levels }).reduce((inner) => ({ child: inner }), {});

describe('a schema of another party', () => {
  it.each(Object.entries(twice))(
    'whose references double with %s is refused before zod runs it',
    (_, pair) => {
      expect(readJsonSchema(doubling(10, pair))?.check(1)?.length).toBeGreaterThan(0);
      for (const levels of [15, 23, 60, 1_000])
        expect(readJsonSchema(doubling(levels, pair))).toBeUndefined();
    },
  );

  it('is read once, also where it cannot be read', () => {
    let reads = 0;
    const counted = { ...doubling(60, twice.anyOf!) };
    const ownKeys = (target: object) => {
      reads += 1;
      return Reflect.ownKeys(target);
    };
    const schema = new Proxy(counted, { ownKeys });
    expect([readJsonSchema(schema), readJsonSchema(schema)]).toEqual([undefined, undefined]);
    expect(reads).toBe(1);
  });

  it('that refers to itself at the same place is refused', () => {
    expect(readJsonSchema({ $ref: '#' })).toBeUndefined();
    const $defs = { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } };
    expect(
      readJsonSchema({ type: 'object', properties: { x: { $ref: '#/$defs/a' } }, $defs }),
    ).toBeUndefined();
  });

  it('may refer to itself for what is inside', () => {
    const tree = readJsonSchema({
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    })!;
    const wide = { children: Array.from({ length: 5_000 }, (_, n) => ({ name: String(n), children: [] })) };
    expect(tree.check(wide)).toBeUndefined();
    expect(tree.check({ children: [{ children: [{ name: 1 }] }] })).toMatchObject([
      { path: 'children.0.children.0.name' },
    ]);
  });

  it('whose branches double with each level of a value refuses a deep value', () => {
    const child = { type: 'object', properties: { child: { $ref: '#' } } };
    const schema = readJsonSchema({ anyOf: [child, child] })!;
    expect(schema.check(nested(8))).toBeUndefined();
    for (const levels of [40, 150, 20_000])
      expect(schema.check(nested(levels))).toEqual([
        { path: '', message: expect.stringMatching(/too many/) },
      ]);
  });

  it('whose parts are all merged for each part of a value refuses a large value', () => {
    const each = { type: 'object', additionalProperties: true };
    const schema = readJsonSchema({ allOf: Array.from({ length: 900 }, () => each) })!;
    const value = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`n${n}`, n]));
    expect(schema.check({ a: 1 })).toBeUndefined();
    expect(schema.check(value)).toHaveLength(1);
  });

  it('that lists a type many times at each level is converted once for each level', () => {
    const type = Array.from({ length: 8 }, () => 'object');
    const deep = Array.from({ length: 22 }).reduce((inner) => ({ type, properties: { a: inner } }), {});
    expect(readJsonSchema(deep)?.check({ a: { a: {} } })).toBeUndefined();
    expect(readJsonSchema(deep)?.check({ a: 1 })).toHaveLength(1);
  });

  it('has no regular expressions, wherever they stand, and keeps members with their names', () => {
    const evil = '^(a+)+$';
    const words = `${'a'.repeat(40)}!`;
    const text = { type: 'string', pattern: evil };
    const schema = readJsonSchema({
      type: 'object',
      properties: {
        plain: text,
        list: { type: 'array', items: text },
        pattern: text,
        id: { type: 'number' },
      },
      patternProperties: { [evil]: text },
      propertyNames: { pattern: evil },
      additionalProperties: false,
      required: ['pattern'],
    })!;
    const fits = { plain: words, list: [words], pattern: words, id: 1, [words]: 'of a pattern' };
    expect(schema.check(fits)).toBeUndefined();
    expect(
      schema
        .check({ id: '1' })
        ?.map(({ path }) => path)
        .sort(),
    ).toEqual(['id', 'pattern']);
  });

  it('leaves nothing behind in zod', () => {
    const id = crypto.randomUUID();
    readJsonSchema({ type: 'object', id, properties: { a: { id: `${id}-a`, type: 'string' } } });
    const kept = (z.globalRegistry as unknown as { _idmap: Map<string, unknown> })._idmap;
    expect([...kept.keys()].filter((each) => each.startsWith(id))).toEqual([]);
  });

  it('with a keyword that zod cannot apply refuses the value and throws nothing', () => {
    const schema = readJsonSchema({ type: 'number', multipleOf: 1e-300 });
    expect(() => schema?.check(3.5)).not.toThrow();
  });
});
