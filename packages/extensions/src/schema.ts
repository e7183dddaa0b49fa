import type { Json } from '@batonjs/protocol';
import { z } from 'zod';

export { describeIssues, type Issue, issuesOf } from '@batonjs/protocol/json-schema';

/** The JSON Schema of a zod schema. Throws for a type that JSON does not have, such as a date. */
export const jsonSchemaOf = (schema: z.ZodType): Record<string, Json> =>
  z.toJSONSchema(schema, { io: 'input' }) as unknown as Record<string, Json>;
