import type { Json } from '@batonjs/protocol';
import { z } from 'zod';

/** What is wrong with a value: where, in dots, and why. */
export interface Issue {
  /** Empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The issues of zod in plain words. At most 20. */
export const issuesOf = ({ issues }: z.core.$ZodError): Issue[] =>
  issues.slice(0, 20).map(({ path, message }) => ({ path: path.map(String).join('.'), message }));

/** Issues as text for people. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('\n');

/** A schema as JSON Schema. Throws for what JSON cannot hold, such as a date. */
export const jsonSchemaOf = (schema: z.ZodType): Record<string, Json> =>
  z.toJSONSchema(schema, { io: 'input' }) as unknown as Record<string, Json>;

/** How deep a schema of somebody else may go. */
const mostLevels = 50;

/**
 * A schema that somebody else sent, or undefined if it cannot be read. Patterns are left out: one can be made that takes
 * for ever.
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
