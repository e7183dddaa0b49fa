import type { Json } from '@batonjs/protocol';

/** A member of a JSON Schema, as far as a form shows it. */
export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly format?: string;
  readonly maxLength?: number;
  readonly default?: Json;
  readonly properties?: unknown;
}

/** A question of the form. */
export interface AnswerField {
  /** Its name in the posted form. Not that of the member, which may be any text. */
  readonly field: string;
  readonly member: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
}

export type FieldKind = 'text' | 'long' | 'number' | 'choice' | 'json';

/** The members that a form asks for. */
export function fieldsOf(schema: Readonly<Record<string, Json | undefined>>): AnswerField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(Object(schema.properties) as Readonly<Record<string, unknown>>).map(
    ([member, field], index) => ({
      field: `field-${index}`,
      member,
      schema: Object(field) as FieldSchema,
      isRequired: required.includes(member),
    }),
  );
}

export function kindOf(schema: FieldSchema): FieldKind {
  if (optionsOf(schema).length > 0) return 'choice';
  const types = [schema.type ?? (schema.properties ? 'object' : 'string')].flat();
  const type = types.find((each) => each !== 'null');
  if (type === 'number' || type === 'integer') return 'number';
  if (type !== 'string') return 'json';
  return Number(schema.maxLength) > 200 ? 'long' : 'text';
}

/** The values to choose from. Empty if the person writes. */
export function optionsOf({ enum: values, const: only, type }: FieldSchema): readonly Json[] {
  if (Array.isArray(values)) return values;
  if (only !== undefined) return [only];
  return [type].flat().includes('boolean') ? [true, false] : [];
}

/** What a person reads for a value, and what its field is filled with. */
export function shownValue(value: Json | undefined, kind: FieldKind): string {
  if (value === undefined || value === null) return '';
  return kind === 'json' || typeof value === 'object' ? JSON.stringify(value, undefined, 2) : String(value);
}

/** The values of a posted form, and what could not be read, by member. A field that was left empty has no value. */
export function readFields(
  fields: readonly AnswerField[],
  posted: URLSearchParams,
): { readonly values: Record<string, Json>; readonly errors: Record<string, string> } {
  const values: [string, Json][] = [];
  const errors: [string, string][] = [];
  for (const { field, member, schema, isRequired } of fields) {
    const text = (posted.get(field) ?? '').replaceAll('\r\n', '\n');
    if (text.trim() === '') {
      if (isRequired) errors.push([member, 'This is needed']);
      continue;
    }
    const value = readValue(text, schema);
    if (value === undefined) errors.push([member, problems[kindOf(schema)]]);
    else values.push([member, value]);
  }
  return { values: Object.fromEntries(values), errors: Object.fromEntries(errors) };
}

const problems: Readonly<Record<FieldKind, string>> = {
  text: 'This cannot be read',
  long: 'This cannot be read',
  number: 'This is no number',
  choice: 'Choose one of the answers',
  json: 'This is no JSON',
};

/** Undefined if the text cannot be read. */
function readValue(text: string, schema: FieldSchema): Json | undefined {
  const kind = kindOf(schema);
  if (kind === 'choice') return optionsOf(schema)[/^\d{1,4}$/.test(text) ? Number(text) : -1];
  if (kind === 'number') {
    const number = Number(text.trim().replace(',', '.'));
    return Number.isFinite(number) ? number : undefined;
  }
  if (kind !== 'json') return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
