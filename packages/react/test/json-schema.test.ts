import { describe, expect, it } from 'vitest';
import { kindOf, nameOf, problemsOf, type Schema, valuesOf } from '../src/form/json-schema.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    story: { type: 'string', maxLength: 201 },
    short: { type: 'string', maxLength: 200 },
    count: { type: 'integer' },
    price: { type: 'number' },
    fast: { type: 'boolean' },
    size: { enum: ['s', 1, null] },
    fixed: { const: 'yes' },
    tags: { type: 'array', items: { enum: ['a', 'b', 'c'] } },
    place: { type: 'object', properties: { 'city/town': { type: 'string' }, extra: {} } },
    maybe: { type: ['string', 'null'] },
    mixed: { type: ['string', 'number'] },
    list: { type: 'array', items: { type: 'string' } },
    any: { type: 'object' },
    untyped: { properties: { a: { type: 'string' } } },
    nothing: { type: 'null' },
    row: { type: 'array' },
    title: { type: 'string', enum: ['a', 'b'] },
  },
};

const entered = (entries: readonly (readonly [string, string])[]) => {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
};

describe('a form for a JSON schema', () => {
  it('has a kind of field for each member', () => {
    const kinds = Object.entries(schema.properties!).map(([name, field]) => [name, kindOf(field)]);
    expect(Object.fromEntries(kinds)).toEqual({
      name: 'text',
      story: 'long-text',
      short: 'text',
      count: 'number',
      price: 'number',
      fast: 'boolean',
      size: 'choice',
      fixed: 'choice',
      tags: 'choices',
      place: 'object',
      maybe: 'text',
      mixed: 'json',
      list: 'json',
      any: 'json',
      untyped: 'json',
      nothing: 'json',
      row: 'json',
      title: 'choice',
    });
  });

  it('gives what was entered as values of their types', () => {
    const values = valuesOf(
      schema,
      entered([
        ['name', 'Ada'],
        ['story', 'Long'],
        ['count', '3'],
        ['price', '2.5'],
        ['fast', 'on'],
        ['size', '1'],
        ['fixed', '0'],
        ['tags', '0'],
        ['tags', '2'],
        ['place/city~1town', 'Oulu'],
        ['place/extra', '[1]'],
        ['mixed', '"x"'],
      ]),
    );
    expect(values).toEqual({
      name: 'Ada',
      story: 'Long',
      count: 3,
      price: 2.5,
      fast: true,
      size: 1,
      fixed: 'yes',
      tags: ['a', 'c'],
      place: { 'city/town': 'Oulu', extra: [1] },
      mixed: 'x',
    });
  });

  it('leaves out what was left empty, and knows no third value of a checkbox', () => {
    expect(valuesOf(schema, entered([['name', '']]))).toEqual({ fast: false, tags: [], place: {} });
    expect(valuesOf({}, entered([]))).toEqual({});
  });

  it('takes a choice that is not there for none, and what was left empty for no problem', () => {
    const values = valuesOf(
      schema,
      entered([
        ['size', '9'],
        ['tags', '9'],
        ['count', '0'],
        ['maybe', '0'],
      ]),
    );
    expect(values).toEqual({ count: 0, fast: false, tags: [null], maybe: '0', place: {} });
    expect(problemsOf(schema, entered([['mixed', '']]))).toEqual({});
    expect(problemsOf({}, entered([]))).toEqual({});
    expect(problemsOf(schema, entered([['name', '{']]))).toEqual({});
  });

  it('says which JSON cannot be read, at any depth', () => {
    expect(
      problemsOf(
        schema,
        entered([
          ['mixed', '{'],
          ['any', '{}'],
          ['place/extra', 'x'],
        ]),
      ),
    ).toEqual({ mixed: 'This is not valid JSON', 'place/extra': 'This is not valid JSON' });
  });

  it('has members of any name, and none of them changes a prototype', () => {
    expect(nameOf(['a/b', 'c~d'])).toBe('a~1b/c~0d');
    const values = valuesOf(
      { properties: Object.fromEntries([['__proto__', { type: 'string' }]]) },
      entered([['__proto__', 'x']]),
    );
    expect(Object.keys(values as object)).toEqual(['__proto__']);
    // They are members as any others: whoever gets the values may change them.
    expect(Object.getOwnPropertyDescriptor(values, '__proto__')).toEqual({
      value: 'x',
      enumerable: true,
      writable: true,
      configurable: true,
    });
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });
});
