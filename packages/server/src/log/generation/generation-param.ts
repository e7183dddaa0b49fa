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

/** The most entries that one answer shows of a timeline. */
const mostEntries = 1_000;

/**
 * How many entries of the timeline a request wants at most, `otherwise` if it does not say; undefined where that extension is
 * not active. Throws `INVALID_PARAMS` for a value that is no `int32` from 0.
 */
export function timelineLengthParam(
  value: unknown,
  field: string,
  extensions: readonly string[],
  otherwise = mostEntries,
): number | undefined {
  if (!extensions.includes(GENERATION)) return undefined;
  if (value === undefined || value === null) return otherwise;
  const length = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof length === 'number' && Number.isInteger(length) && length >= 0 && length < 2 ** 31)
    return Math.min(length, mostEntries);
  throw invalidParams([{ field, description: 'must be an integer of 32 bits that is not negative' }]);
}
