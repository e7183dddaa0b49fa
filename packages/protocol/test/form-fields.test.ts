import { describe, expect, it } from 'vitest';
import { errorsById, type FieldSchema, type FormField, fieldsOf, readFields } from '../src/form-fields.ts';
import { readOwnSchema } from '../src/json-schema.ts';

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const one = (schema: object, required: readonly string[] = []) =>
  fieldsOf(object({ x: schema }, required))[0]!;

/** What one field reads from these texts: its value, or in words why not. */
const read = (schema: object, ...texts: string[]) => {
  const { values, errors } = readFields([one(schema, ['x'])], () => texts);
  return 'x' in errors ? `! ${errors.x}` : values.x;
};

describe('a field', () => {
  const choice = (...texts: string[]) => ({
    kind: 'choice',
    options: texts.map((text) => expect.objectContaining({ text })),
  });
  it.each<[object, object]>([
    [{}, { kind: 'text', title: 'X', description: undefined, entered: [] }],
    [
      { title: 'T', description: 'D', default: 'a' },
      { title: 'T', description: 'D', entered: ['a'] },
    ],
    [
      { title: { toString: 'x' }, description: 7 },
      { title: 'X', description: undefined },
    ],
    [{ type: 'string', maxLength: 201 }, { kind: 'long' }],
    [
      { type: 'string', maxLength: 200, format: 'date' },
      { kind: 'text', inputType: 'date' },
    ],
    [{ type: 'string', format: 'uri' }, { inputType: 'url' }],
    [{ type: 'string', format: 'toString' }, { inputType: 'text' }],
    [
      { type: 'integer', default: 5 },
      { kind: 'number', entered: ['5'] },
    ],
    [{ type: ['number', 'null'] }, { kind: 'number' }],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, { kind: 'number' }],
    [{ type: ['string', 'number'] }, { kind: 'json' }],
    [
      { type: 'boolean', default: false },
      { ...choice('Yes', 'No'), entered: ['1'] },
    ],
    [
      { enum: ['s', 1, null, { a: 1 }], default: 1 },
      { ...choice('s', '1', 'null', '{"a":1}'), entered: ['1'] },
    ],
    [{ enum: ['s'], enumNames: ['Small'] }, choice('Small')],
    [{ const: 'yes' }, choice('yes')],
    [
      { oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }], default: 'l' },
      { ...choice('Small', 'l'), entered: ['1'] },
    ],
    [
      { type: 'array', items: { enum: ['a', 'b'] }, default: ['b'] },
      { kind: 'choices', entered: ['1'] },
    ],
    [
      { type: 'array', items: { type: 'string' }, default: ['b'] },
      { kind: 'json', entered: ['[\n  "b"\n]'] },
    ],
    [{ type: 'object' }, { kind: 'json' }],
    [{ type: 'null' }, { kind: 'json' }],
    [
      object({ y: { type: 'string' } }),
      { kind: 'group', fields: [expect.objectContaining({ path: 'x.y' })] },
    ],
  ])('of the schema %j is %j', (schema, field) => {
    expect(one(schema)).toMatchObject(field);
  });

  it.each([
    ['dueDate', 'Due date'],
    ['due_date', 'Due date'],
    ['total-amountInEUR', 'Total amount in EUR'],
    ['VATNumber', 'VATNumber'],
    ['line2', 'Line2'],
    ['', ''],
  ])('that has no title is called by its name in words: %s is %s', (name, words) => {
    const [field] = fieldsOf(object({ [name]: { type: 'string' } }));
    expect(field?.title).toBe(words);
  });

  it('begins with what is known, and with its default without that', () => {
    const schema = object({ a: { default: 1 }, b: object({ c: { default: 2 }, d: {} }) });
    const fields = fieldsOf(schema, { a: 'x', b: { d: null } });
    expect(fields[0]?.entered).toEqual(['x']);
    expect(fields[1]?.fields.map(({ id, entered }) => [id, entered])).toEqual([
      ['field-1', ['2']],
      ['field-2', []],
    ]);
  });

  it('is JSON where objects lie too deep, and what is no schema has no fields', () => {
    const deep = (levels: number): object => (levels === 0 ? {} : object({ x: deep(levels - 1) }));
    const kinds = (field: FormField | undefined): string[] =>
      field ? [field.kind, ...kinds(field.fields[0])] : [];
    expect(kinds(fieldsOf(deep(50) as FieldSchema)[0])).toEqual(['group', 'group', 'group', 'group', 'json']);
    expect([fieldsOf({}), fieldsOf({ properties: 'x' as never, required: 7 as never })]).toMatchObject([
      [],
      [{}],
    ]);
  });
});

describe('what was entered', () => {
  it.each<[object, string[], unknown]>([
    [{}, ['a\r\nb'], 'a\nb'],
    [{}, [' '], '! This is needed'],
    [{ type: 'number' }, ['2,5'], 2.5],
    [{ type: 'number' }, ['much'], '! This is no number'],
    [{ type: 'integer' }, ['2.5'], '! This is no whole number'],
    [{ type: 'integer', minimum: 1, maximum: 10_000 }, ['0'], '! At least 1'],
    [{ type: 'integer', minimum: 1, maximum: 10_000 }, ['10001'], '! At most 10,000'],
    [{ type: 'number', exclusiveMinimum: 0 }, ['0'], '! More than 0'],
    [{ type: 'number', exclusiveMaximum: 0.5 }, ['0.5'], '! Less than 0.5'],
    [{ type: 'number', multipleOf: 5 }, ['7'], '! A multiple of 5'],
    [{ type: 'string', minLength: 2 }, ['a'], '! At least 2 characters'],
    [{ type: 'string', maxLength: 1 }, ['ab'], '! At most 1 character'],
    [{ type: 'string', format: 'email' }, ['ada'], '! This is no e-mail address'],
    [{ type: 'string', format: 'uri' }, ['a.example'], '! This is no address of the web'],
    [{ type: 'string', format: 'date' }, ['31.1.2026'], '! This is no date, such as 2026-01-31'],
    [{ type: 'string', format: 'date' }, ['2026-01-31'], '2026-01-31'],
    [{ type: 'string', format: 'date-time' }, ['now'], '! This is no time, such as 2026-01-31T18:00:00Z'],
    [{ type: 'boolean' }, ['1'], false],
    [{ enum: ['a', 1] }, ['1'], 1],
    [{ enum: ['a', 1] }, [], '! Choose one'],
    [{ enum: ['a', 1] }, ['2'], '! Choose one'],
    [{ enum: ['a', 1] }, ['x'], '! Choose one'],
    [{ type: 'array', items: { enum: ['a', 'b', 'c'] } }, ['0', '2'], ['a', 'c']],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, ['7'], '! Choose from the answers'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, [], []],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 }, [], '! At least 1 answer'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, ['0', '1'], '! At most 1 answer'],
    [{ type: 'object' }, ['{"a":1}'], { a: 1 }],
    [{ type: 'object' }, ['{'], '! This is no JSON'],
  ])('in a field of the schema %j as %j is read as %j', (schema, texts, value) => {
    expect(read(schema, ...texts)).toEqual(value);
  });

  it('in a group is an object, and none where nothing was entered and nothing is needed', () => {
    const place = object({ city: {}, zip: {} }, ['city']);
    const fields = fieldsOf(object({ place, home: place, note: {} }, ['home']));
    const entered = (texts: Record<string, string>) =>
      readFields(fields, ({ path }) => (path in texts ? [texts[path]!] : []));
    expect(entered({ 'home.city': 'Oulu' })).toEqual({ values: { home: { city: 'Oulu' } }, errors: {} });
    expect(entered({ 'place.zip': '1' }).errors).toEqual({
      'place.city': 'This is needed',
      'home.city': 'This is needed',
    });
  });

  it('under the name of a prototype is a member as any other', () => {
    const fields = fieldsOf({ properties: Object.fromEntries([['__proto__', { type: 'string' }]]) });
    const { values } = readFields(fields, () => ['x']);
    expect([Object.keys(values), Object.getPrototypeOf(values)]).toEqual([['__proto__'], Object.prototype]);
  });
});

it('errors stand at the fields that they are about, the first one of each, and the others above all', () => {
  const fields = fieldsOf(object({ a: {}, b: object({ c: {} }), list: { type: 'array' } }));
  const errors = { a: 'A', 'a.x': 'no', 'b.c': 'C', b: 'B', 'list.0': 'L', other: 'O' };
  expect(errorsById(fields, errors)).toEqual({
    'field-0': 'A',
    'field-1': 'C',
    'group-0': 'B',
    'field-2': 'L',
    '': 'other: O',
  });
  expect(errorsById([], { '': 'All' })).toEqual({ '': 'All' });
});

it.each<[object, unknown, string]>([
  [{ type: 'integer', maximum: 10_000 }, 10_001, 'At most 10,000'],
  [{ type: 'number', exclusiveMinimum: 0 }, 0, 'More than 0'],
  [{ type: 'string', minLength: 1 }, '', 'This is needed'],
  [{ type: 'string', maxLength: 2 }, 'abc', 'At most 2 characters'],
  [{ type: 'string', pattern: '^a$' }, 'b', 'This has not the form that is asked for'],
  [{ type: 'string', format: 'email' }, 'a', 'This is no e-mail address'],
  [{ type: 'string', format: 'date' }, 'a', 'This is no date, such as 2026-01-31'],
  [{ enum: ['a', 'b'] }, 'c', 'Choose one'],
  [{ type: 'boolean' }, 'x', 'Choose one'],
  [{ type: 'number' }, 'x', 'This is no number'],
  [{ type: 'integer' }, 1.5, 'This is no whole number'],
  [{ type: 'number', multipleOf: 5 }, 7, 'A multiple of 5'],
  [{ type: 'array', items: {}, minItems: 2 }, [], 'At least 2 entries'],
  [{ type: 'object', additionalProperties: false, properties: {} }, { a: 1 }, 'There is no field "a"'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, true, 'This fits none of what is asked for'],
  [{ type: 'string' }, undefined, 'This is needed'],
])('of a value that does not fit the schema %j, such as %j, a person reads: %s', (schema, value, words) => {
  const check = readOwnSchema(object({ x: schema }, ['x']));
  expect(check(value === undefined ? {} : { x: value })).toEqual([
    { path: expect.any(String), message: words },
  ]);
});
