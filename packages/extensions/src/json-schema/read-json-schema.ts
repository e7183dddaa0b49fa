import { z } from 'zod';
import { type Issue, issuesOf } from '../schema.ts';
import { costOf } from './cost.ts';
import { withoutPrograms } from './without-programs.ts';

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
