import type { Json } from '@batonjs/protocol';

/** A JSON Schema, as far as a form can show it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: Json;
}

/** How a form shows a schema. */
export type Kind = 'text' | 'long-text' | 'number' | 'boolean' | 'choice' | 'choices' | 'object' | 'json';

/** Longer texts get several lines. */
const longText = 200;

export function kindOf(schema: Schema): Kind {
  if (choicesOf(schema)) return 'choice';
  // `null` beside a type says that the member may be left out.
  const [type, ...others] = [schema.type ?? []].flat().filter((each) => each !== 'null');
  if (others.length > 0) return 'json';
  if (type === 'string') return (schema.maxLength ?? 0) > longText ? 'long-text' : 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array' && schema.items && choicesOf(schema.items)) return 'choices';
  return type === 'object' && schema.properties ? 'object' : 'json';
}

/** The values to choose from. Undefined if there is no list of them. */
export const choicesOf = ({ enum: values, const: only }: Schema): readonly Json[] | undefined =>
  values ?? (only === undefined ? undefined : [only]);

/** The name of a member in a form, as a JSON Pointer without its first slash: names of members may have any sign. */
export const nameOf = (path: readonly string[]): string =>
  path.map((each) => each.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');

/** The values of a form, read from what was entered. Fields that were left empty are no members. */
export function valuesOf(schema: Schema, entered: FormData, path: readonly string[] = []): Json {
  const values: Record<string, Json> = {};
  for (const [member, field] of Object.entries(schema.properties ?? {})) {
    const value = fieldValue(field, entered, [...path, member]);
    if (value !== undefined)
      Object.defineProperty(values, member, { value, enumerable: true, writable: true, configurable: true });
  }
  return values;
}

function fieldValue(field: Schema, entered: FormData, path: readonly string[]): Json | undefined {
  const name = nameOf(path);
  const text = entered.get(name);
  switch (kindOf(field)) {
    case 'object':
      return valuesOf(field, entered, path);
    case 'boolean':
      return text !== null;
    case 'choices':
      return entered.getAll(name).map((chosen) => choicesOf(field.items ?? {})?.[Number(chosen)] ?? null);
    case 'choice':
      return text ? choicesOf(field)?.[Number(text)] : undefined;
    case 'number':
      return text ? Number(text) : undefined;
    case 'json':
      return text ? (JSON.parse(String(text)) as Json) : undefined;
    default:
      return text ? String(text) : undefined;
  }
}

/** The problems of the JSON that was entered, by the names of its fields. */
export function problemsOf(
  schema: Schema,
  entered: FormData,
  path: readonly string[] = [],
): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const [member, field] of Object.entries(schema.properties ?? {})) {
    const own = [...path, member];
    const kind = kindOf(field);
    if (kind === 'object') Object.assign(problems, problemsOf(field, entered, own));
    const text = kind === 'json' && entered.get(nameOf(own));
    if (text && !isJson(String(text))) problems[nameOf(own)] = 'This is not valid JSON';
  }
  return problems;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
