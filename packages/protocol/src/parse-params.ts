import type * as z from 'zod';
import { type FieldViolation, invalidParams } from './errors.ts';
import { checkOf } from './model/canonical.ts';
import type { OperationName, Params } from './operations.ts';
import { params } from './params.ts';

/**
 * Checks the request of an operation and returns it in its canonical form: itself, if it is canonical already. Throws
 * `INVALID_PARAMS`, which names every violation with its path, at most 100 of them. Spec: §3.3.2, §5.7.
 */
export function parseParams<Name extends OperationName>(operation: Name, value: unknown): Params<Name> {
  const schema: z.ZodType = params[operation];
  if (checkOf(schema)(value)) return value as Params<Name>;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw invalidParams(fieldViolations(parsed.error));
  return parsed.data as Params<Name>;
}

const maxViolations = 100;

/** The violations that a schema found, at most 100, each with its path, such as `message.parts[0].text`. */
export function fieldViolations({ issues }: z.core.$ZodError): FieldViolation[] {
  const violations = issues.slice(0, maxViolations).map((issue) => ({
    field: fieldPath(issue.path),
    description: describe(issue),
  }));
  const unnamed = issues.length - violations.length;
  return unnamed > 0 ? [...violations, { field: '', description: `and ${unnamed} more` }] : violations;
}

const fieldPath = (path: readonly PropertyKey[]) =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');

const describe = ({ code, message }: z.core.$ZodIssue) =>
  code === 'invalid_type' && message.endsWith('received undefined') ? 'is required' : message;
