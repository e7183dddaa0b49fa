import type { Json } from '@batonjs/protocol';
import { z } from 'zod';

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

/** The JSON Schema of a zod schema. Throws for a type that JSON does not have, such as a date. */
export const jsonSchemaOf = (schema: z.ZodType): Record<string, Json> =>
  z.toJSONSchema(schema, { io: 'input' }) as unknown as Record<string, Json>;
