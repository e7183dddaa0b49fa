import { invalidParams } from '@batonjs/protocol/errors';
import { GENERATION } from '@batonjs/protocol/headers';

/**
 * The generation that a request names, where that extension is active; undefined elsewhere, and if it names none. Throws
 * `INVALID_PARAMS` for one that is no `int64`.
 */
export function generationParam(
  value: unknown,
  field: string,
  extensions: readonly string[],
): number | undefined {
  if (value === undefined || value === null || !extensions.includes(GENERATION)) return undefined;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^-?\d{1,19}$/.test(text)) return Number(text);
  throw invalidParams([{ field, description: 'must be an integer of 64 bits' }]);
}
