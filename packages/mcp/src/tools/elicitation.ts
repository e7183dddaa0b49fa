import { type ReadSchema, readJsonSchema } from '@batonjs/extensions/internals';
import { z } from 'zod';

/** A form or an address that an MCP server asks the user with. Spec: MCP 2026-07-28, Elicitation. */
export interface Elicitation {
  readonly message: string;
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
}

/** The fields that a server asks for, each with its schema. A question without fields is one for a yes. */
export const fieldsOf = ({ requestedSchema }: Elicitation): Readonly<Record<string, unknown>> =>
  Object(requestedSchema?.properties);

/**
 * The schema of a form, without patterns: they are programs of another party. Undefined if it cannot be read or has no
 * fields.
 */
export function formOf(asked: Elicitation): (ReadSchema & { readonly type: z.ZodObject }) | undefined {
  if (Object.keys(fieldsOf(asked)).length === 0) return undefined;
  const read = readJsonSchema(asked.requestedSchema);
  return read?.type instanceof z.ZodObject ? { ...read, type: read.type } : undefined;
}
