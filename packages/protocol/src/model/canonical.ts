import type * as z from 'zod';

/**
 * Whether a schema would make of a value only a copy of it. Most requests are such values: a check of a few comparisons for
 * each member costs a fraction of what zod does. True only where the schema accepts the value and changes nothing. Where
 * it is false, the schema decides.
 */
export type Check = (value: unknown) => boolean;

const checks = new WeakMap<z.core.$ZodType, Check>();

/** The schema, with its check. One without a check always decides itself. */
export function checkedBy<Schema extends z.core.$ZodType>(schema: Schema, check: Check): Schema {
  checks.set(schema, check);
  return schema;
}

const never: Check = () => false;

/** The check of a schema. That of an optional one is for values that are there. */
export function checkOf(schema: z.core.$ZodType): Check {
  const { def } = schema._zod;
  const known = checks.get(schema);
  if (known) return known;
  return def.type === 'optional' ? checkOf((def as z.core.$ZodOptionalDef).innerType) : never;
}

/** The check of an object: it has no members but those of the shape, and all that are not optional. */
export function checkOfMembers(shape: Readonly<Record<string, z.core.$ZodType>>): Check {
  const members = new Map(Object.entries(shape).map(([name, schema]) => [name, checkOf(schema)]));
  const required = new Set(Object.keys(shape).filter((name) => shape[name]?._zod.def.type !== 'optional'));
  return (value) => {
    if (!isPlain(value)) return false;
    let found = 0;
    for (const name of Object.keys(value)) {
      if (!members.get(name)?.(value[name])) return false;
      if (required.has(name)) found++;
    }
    return found === required.size;
  };
}

/** The check of an array of at most so many elements. */
export function checkOfElements(element: z.core.$ZodType, atMost: number): Check {
  const check = checkOf(element);
  return (value) => {
    if (!Array.isArray(value) || value.length > atMost) return false;
    // Not `every`, which leaves out holes.
    for (const one of value) if (!check(one)) return false;
    return true;
  };
}

/** As JSON is read: a schema reads members that are inherited or computed in its own way. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

export const isText: Check = (value) => typeof value === 'string';
export const isBoolean: Check = (value) => typeof value === 'boolean';
