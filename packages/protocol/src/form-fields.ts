import type { Json } from './model/json.ts';
import { tryJson } from './values/json.ts';

/** How a field is filled in: with one of `options`, with any number of them, or by the fields of a `group`. */
export type FieldKind = 'text' | 'long' | 'number' | 'choice' | 'choices' | 'group' | 'json';

/** A member of an object as a form asks for it. */
export interface FormField {
  /** Names it on a page: names of members may have any signs. */
  readonly id: string;
  /** The names from the top to it, joined by dots, as errors name it. */
  readonly path: string;
  readonly member: string;
  readonly kind: FieldKind;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly options: readonly { readonly value: Json; readonly text: string }[];
  readonly fields: readonly FormField[];
  /** The `type` of an input of HTML. Numbers are texts to it: a locale's comma would be lost otherwise. */
  readonly inputType: 'text' | 'date' | 'email' | 'url';
  /** What it is filled with at first: texts, or positions among the options. */
  readonly entered: readonly string[];
  readonly schema: FieldSchema;
}

/** A member of a JSON Schema, which may be that of another party: nothing of it is checked. */
export type FieldSchema = Readonly<Record<string, unknown>>;

/** Longer texts get several lines, and deeper objects are JSON. */
const most = { ofLine: 200, deep: 5 };

/** The fields of an object. `initial`: values that are known already; without them, the defaults of the schema count. */
export function fieldsOf(schema: FieldSchema, initial?: Json): readonly FormField[] {
  let [leaves, groups] = [0, 0];
  const below = (object: FieldSchema, known: unknown, above: readonly string[]): readonly FormField[] => {
    const required: readonly unknown[] = Array.isArray(object.required) ? object.required : [];
    return Object.entries(Object(object.properties) as FieldSchema).map(([member, given]) => {
      const own = withoutNull(Object(given) as FieldSchema);
      const path = [...above, member];
      const value = Object.hasOwn(Object(known), member) ? Object(known)[member] : own.default;
      const options = optionsOf(own);
      const kind = kindOf(own, options, path.length);
      const inside = kind === 'choices' ? optionsOf(Object(own.items) as FieldSchema) : options;
      return {
        id: kind === 'group' ? `group-${groups++}` : `field-${leaves++}`,
        path: path.join('.'),
        member,
        kind,
        title: textIn(own.title) ?? inWords(member),
        description: textIn(own.description),
        isRequired: required.includes(member),
        options: inside,
        fields: kind === 'group' ? below(own, value, path) : [],
        inputType: formatOf(own)?.input ?? 'text',
        entered: enteredFor(value, kind, inside),
        schema: own,
      };
    });
  };
  return below(schema, initial, []);
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The name of a member as a person reads it: `dueDate` and `due_date` are "Due date". */
const inWords = (name: string): string => {
  const words = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])|[_-]+/g, ' ').trim();
  const lower = words.replaceAll(/ [A-Z](?=[a-z])/g, (letter) => letter.toLowerCase());
  return lower.replace(/^./, (letter) => letter.toUpperCase());
};

/** `null` beside a type says that the member may be left out. */
function withoutNull(schema: FieldSchema): FieldSchema {
  const [name, all] = Array.isArray(schema.anyOf)
    ? (['anyOf', schema.anyOf] as const)
    : ['oneOf', schema.oneOf];
  const others = Array.isArray(all) ? all.filter((each) => Object(each).type !== 'null') : [];
  return others.length === 1 ? { ...schema, [name]: undefined, ...Object(others[0]) } : schema;
}

/** The values to choose from. Empty if the person writes. */
function optionsOf({
  enum: values,
  enumNames,
  const: only,
  type,
  oneOf,
  anyOf,
}: FieldSchema): FormField['options'] {
  const toOption = (value: Json, title?: unknown) => ({ value, text: textIn(title) ?? shown(value) });
  if (Array.isArray(values)) return values.map((value, at) => toOption(value, Object(enumNames)[at]));
  if (only !== undefined) return [toOption(only as Json)];
  const titled = [oneOf, anyOf].find(Array.isArray)?.map((each) => Object(each) as FieldSchema) ?? [];
  if (titled.length > 0 && titled.every((each) => each.const !== undefined))
    return titled.map(({ const: value, title }) => toOption(value as Json, title));
  return [type].flat().includes('boolean') ? [toOption(true), toOption(false)] : [];
}

function shown(value: Json): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function kindOf(schema: FieldSchema, options: FormField['options'], depth: number): FieldKind {
  const { type, properties, items, maxLength } = schema;
  if (options.length > 0) return 'choice';
  const [first, ...more] = [type ?? (properties ? 'object' : 'string')]
    .flat()
    .filter((each) => each !== 'null');
  if (more.length > 0) return 'json';
  if (first === 'number' || first === 'integer') return 'number';
  if (first === 'string') return Number(maxLength) > most.ofLine ? 'long' : 'text';
  if (first === 'array') return optionsOf(Object(items) as FieldSchema).length > 0 ? 'choices' : 'json';
  return first === 'object' && Object.keys(Object(properties)).length > 0 && depth < most.deep
    ? 'group'
    : 'json';
}

function enteredFor(value: unknown, kind: FieldKind, options: FormField['options']): readonly string[] {
  if (value === undefined || value === null || kind === 'group') return [];
  if (kind === 'json') return [JSON.stringify(value, undefined, 2)];
  if (kind !== 'choice' && kind !== 'choices')
    return [typeof value === 'object' ? JSON.stringify(value) : String(value)];
  const chosen = (kind === 'choices' && Array.isArray(value) ? value : [value]).map((each) =>
    JSON.stringify(each),
  );
  return options.flatMap((option, at) => (chosen.includes(JSON.stringify(option.value)) ? [String(at)] : []));
}

/** What was entered, by the paths of their fields: what fits, and what a person should mend. */
export interface ReadFields {
  readonly values: Readonly<Record<string, Json>>;
  readonly errors: Readonly<Record<string, string>>;
}

/** Reads what was entered. Fields that were left empty are no members. `entered`: the texts of a field. */
export function readFields(
  fields: readonly FormField[],
  entered: (field: FormField) => readonly string[],
): ReadFields {
  const values: [string, Json][] = [];
  const errors: [string, string][] = [];
  for (const field of fields) {
    if (field.kind === 'group') {
      const inside = readFields(field.fields, entered);
      // Who leaves out all of an optional object leaves out what it needs, too.
      if (!field.isRequired && !isEntered(field, entered)) continue;
      values.push([field.member, inside.values]);
      errors.push(...Object.entries(inside.errors));
      continue;
    }
    const texts = entered(field).filter((text) => text.trim() !== '');
    const isEmpty = texts.length === 0 && !(field.isRequired && field.kind === 'choices');
    const value = isEmpty ? undefined : valueOfTexts(texts, field);
    const error = isEmpty ? (field.isRequired ? needed(field) : undefined) : problemOf(value, field);
    if (error !== undefined) errors.push([field.path, error]);
    else if (value !== undefined) values.push([field.member, value]);
  }
  return { values: Object.fromEntries(values), errors: Object.fromEntries(errors) };
}

const isEntered = (field: FormField, entered: (field: FormField) => readonly string[]): boolean =>
  field.kind === 'group'
    ? field.fields.some((each) => isEntered(each, entered))
    : entered(field).some((text) => text.trim() !== '');

const needed = ({ kind }: FormField): string => (kind === 'choice' ? words.one : words.needed);

/** Undefined if the texts cannot be read. */
function valueOfTexts(texts: readonly string[], { kind, options }: FormField): Json | undefined {
  const [text = ''] = texts;
  const optionAt = (at: string) => (/^\d{1,4}$/.test(at) ? options[Number(at)]?.value : undefined);
  switch (kind) {
    case 'choice':
      return optionAt(text);
    case 'choices': {
      const chosen = texts.map(optionAt).filter((value) => value !== undefined);
      return chosen.length === texts.length ? chosen : undefined;
    }
    case 'number': {
      const number = Number(text.trim().replace(',', '.'));
      return Number.isFinite(number) ? number : undefined;
    }
    case 'json':
      return tryJson(text) as Json | undefined;
    default:
      return text.replaceAll('\r\n', '\n');
  }
}

/** What a person should mend; undefined if a form sees no fault. The agent that asked checks the rest. */
function problemOf(value: Json | undefined, { kind, schema }: FormField): string | undefined {
  if (value === undefined) return words.unread[kind];
  if (typeof value === 'number') {
    const { type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if ([type].flat().includes('integer') && !Number.isInteger(value)) return words.whole;
    if (value < Number(minimum)) return words.atLeast(minimum);
    if (value > Number(maximum)) return words.atMost(maximum);
    if (value <= Number(exclusiveMinimum)) return words.moreThan(exclusiveMinimum);
    if (value >= Number(exclusiveMaximum)) return words.lessThan(exclusiveMaximum);
    return typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf)
      ? words.step(multipleOf)
      : undefined;
  }
  if (kind === 'choices' && Array.isArray(value)) {
    if (value.length < Number(schema.minItems)) return words.atLeast(schema.minItems, 'answers');
    return value.length > Number(schema.maxItems) ? words.atMost(schema.maxItems, 'answers') : undefined;
  }
  if (typeof value !== 'string' || kind === 'choice' || kind === 'json') return undefined;
  if (value.length < Number(schema.minLength)) return words.atLeast(schema.minLength, 'characters');
  if (value.length > Number(schema.maxLength)) return words.atMost(schema.maxLength, 'characters');
  const format = formatOf(schema);
  return format && !format.fits(value) ? format.words : undefined;
}

/** What people read about a value. */
export const words = {
  needed: 'This is needed',
  one: 'Choose one',
  whole: 'This is no whole number',
  unread: {
    text: 'This cannot be read',
    long: 'This cannot be read',
    group: 'This cannot be read',
    number: 'This is no number',
    choice: 'Choose one',
    choices: 'Choose from the answers',
    json: 'This is no JSON',
  },
  atLeast: (bound: unknown, of?: string) => counted('At least', bound, of),
  atMost: (bound: unknown, of?: string) => counted('At most', bound, of),
  moreThan: (bound: unknown, of?: string) => counted('More than', bound, of),
  lessThan: (bound: unknown, of?: string) => counted('Less than', bound, of),
  step: (step: unknown) => counted('A multiple of', step),
  form: 'This has not the form that is asked for',
} as const;

const counted = (what: string, bound: unknown, of?: string): string => {
  const count = Number(bound).toLocaleString('en-US', { maximumFractionDigits: 20 });
  const unit = Number(bound) === 1 ? of?.replace(/(ie)?s$/, (end) => (end === 's' ? '' : 'y')) : of;
  return unit ? `${what} ${count} ${unit}` : `${what} ${count}`;
};

interface Format {
  readonly words: string;
  readonly input?: FormField['inputType'];
  fits(text: string): boolean;
}

/** What a text of a format is, as far as a form can tell. */
export const formats: ReadonlyMap<unknown, Format> = new Map<unknown, Format>([
  [
    'email',
    { words: 'This is no e-mail address', input: 'email', fits: (text) => /^\S+@\S+\.\S+$/.test(text) },
  ],
  ['uri', { words: 'This is no address of the web', input: 'url', fits: (text) => URL.canParse(text) }],
  [
    'date',
    {
      words: 'This is no date, such as 2026-01-31',
      input: 'date',
      fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
    },
  ],
  [
    'date-time',
    {
      words: 'This is no time, such as 2026-01-31T18:00:00Z',
      fits: (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
    },
  ],
]);

const formatOf = ({ format }: FieldSchema): Format | undefined => formats.get(format);

/** Errors by the ids of the fields that show them; those of no field stand for the whole, by the empty id. */
export function errorsById(
  fields: readonly FormField[],
  errors: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const all = fields.flatMap(function flat(field: FormField): FormField[] {
    return [...field.fields.flatMap(flat), field];
  });
  const found = Object.entries(errors).map(([path, message]): [string, string] => {
    const field = all.find((each) => path === each.path || path.startsWith(`${each.path}.`));
    if (field) return [field.id, message];
    return ['', path === '' ? message : `${path}: ${message}`];
  });
  // The first one of a field counts.
  return Object.fromEntries(found.reverse());
}
