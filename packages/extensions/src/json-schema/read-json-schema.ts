import { z } from 'zod';
import { type Issue, issuesOf } from '../schema.ts';
import { costOf } from './cost.ts';

/** A JSON Schema of another party, ready to check values. */
export interface ReadSchema {
  /** The schema for zod. A check with it has no bound: use `check`. */
  readonly type: z.ZodType;
  /**
   * The problems of a value, at most 20; undefined if it fits. A value that takes more than 300,000 steps to check
   * does not fit.
   */
  check(value: unknown): Issue[] | undefined;
}

const read = new WeakMap<object, ReadSchema | { readonly isUnreadable: true }>();

/**
 * Reads a JSON Schema from another party; undefined if it cannot be read, or takes too many steps for any value. Ignores
 * patterns: a malicious regular expression can block the process. Remembers each schema object, so that a bad card costs
 * once; the object must not change.
 */
export function readJsonSchema(schema: unknown): ReadSchema | undefined {
  if (typeof schema !== 'object' || schema === null)
    return typeof schema === 'boolean' ? toRead(schema) : undefined;
  const known = read.get(schema) ?? toRead(schema) ?? { isUnreadable: true };
  read.set(schema, known);
  return 'isUnreadable' in known ? undefined : known;
}

function toRead(schema: object | boolean): ReadSchema | undefined {
  try {
    const plain = withoutPrograms(schema);
    const isTooHigh = costOf(plain);
    const type = z.fromJSONSchema(plain as Parameters<typeof z.fromJSONSchema>[0]);
    return { type, check: (value) => (isTooHigh(value) ? tooHigh : problemsOf(type, value)) };
  } catch {
    return undefined;
  }
}

const tooHigh: Issue[] = [{ path: '', message: 'This takes too many steps to check' }];

function problemsOf(type: z.ZodType, value: unknown): Issue[] | undefined {
  try {
    const { error } = type.safeParse(value);
    return error && issuesOf(error);
  } catch {
    // zod cannot apply some keywords, such as a `multipleOf` of 1e-300.
    return [{ path: '', message: 'This cannot be checked' }];
  }
}

/** The maximum nesting, and the maximum number of subschemas, of a schema from another party. */
const mostLevels = 50;
const mostSubschemas = 10_000;

/** Keywords whose members are names with schemas. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas']);

/** Keywords with values, in which `pattern` is a name like any other. */
const plain: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);

/**
 * A copy of a JSON Schema without regular expressions, which can block the process, and without ids, which zod keeps for
 * ever. What a `patternProperties` allows cannot be told any more, so other members are allowed beside it. Throws a
 * `RangeError` for a schema that is too large.
 */
export function withoutPrograms(schema: unknown): unknown {
  let count = 0;
  const copy = (value: unknown, level: number): unknown => {
    if (Array.isArray(value)) return value.map((each) => copy(each, level + 1));
    if (typeof value !== 'object' || value === null) return value;
    count += 1;
    if (level > mostLevels || count > mostSubschemas) throw new RangeError('The schema is too large');
    return mapMembers(value, (name, inner) => {
      if (name === 'pattern' || name === 'patternProperties') return undefined;
      if (name === 'additionalProperties' && Object.hasOwn(value, 'patternProperties')) return undefined;
      if (name === 'id' && typeof inner === 'string') return undefined;
      // A type that is listed twice would be converted twice, and all below it again at each level.
      if (name === 'type' && Array.isArray(inner)) return [...new Set(inner)];
      if (plain.has(name)) return inner;
      return named.has(name)
        ? mapMembers(Object(inner), (_, each) => copy(each, level + 1))
        : copy(inner, level + 1);
    });
  };
  return copy(schema, 0);
}

const mapMembers = (value: object, map: (name: string, inner: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const mapped = map(name, inner);
      return mapped === undefined ? [] : [[name, mapped]];
    }),
  );
