import type { Json } from '@batonjs/protocol';
import { z } from 'zod';

/** One problem of a value. */
export interface Issue {
  /** The path of the member, separated by dots; empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

/** The first 20 issues of a zod error. */
export const issuesOf = ({ issues }: z.core.$ZodError): Issue[] =>
  issues.slice(0, 20).map(({ path, message }) => ({ path: path.map(String).join('.'), message }));

/** The issues as text for people, one per line. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('\n');

/** The JSON Schema of a zod schema. Throws for a type that JSON does not have, such as a date. */
export const jsonSchemaOf = (schema: z.ZodType): Record<string, Json> =>
  z.toJSONSchema(schema, { io: 'input' }) as unknown as Record<string, Json>;

/** The maximum nesting of a schema from another party. */
const mostLevels = 50;

/**
 * Reads a JSON Schema from another party; undefined if zod cannot read it. Ignores patterns: a malicious regular
 * expression can block the process.
 */
export function readJsonSchema(schema: unknown): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(withoutPatterns(schema, 0) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

function withoutPatterns(value: unknown, level: number): unknown {
  if (level > mostLevels) throw new RangeError('The schema goes too deep');
  if (Array.isArray(value)) return value.map((each) => withoutPatterns(each, level + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([name, inner]) => !(name === 'pattern' && typeof inner === 'string') && name !== 'patternProperties',
      )
      .map(([name, inner]) => [name, withoutPatterns(inner, level + 1)]),
  );
}
