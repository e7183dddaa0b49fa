import * as z from 'zod';

/** One problem of a value. */
export type Issue = {
  /** The path of the member, separated by dots; empty for the whole value. */
  readonly path: string;
  readonly message: string;
};

/** The first 20 issues of a zod error. */
export const issuesOf = ({ issues }: z.core.$ZodError): Issue[] =>
  issues.slice(0, 20).map(({ path, message }) => ({ path: path.map(String).join('.'), message }));

/** The issues as text for people, one per line. */
export const describeIssues = (issues: readonly Issue[]): string =>
  issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('\n');

/**
 * A function that returns the problems of a value, at most 20, or undefined if it fits. For a JSON Schema of one's own:
 * its regular expressions run, and a check has no bound. Throws for a schema that cannot be read.
 */
export function readOwnSchema(schema: unknown): (value: unknown) => readonly Issue[] | undefined {
  // In a registry of its own: zod keeps schemas with ids for ever otherwise.
  const type = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0], { registry: z.registry() });
  return (value) => {
    const { error } = type.safeParse(value);
    return error && issuesOf(error);
  };
}
