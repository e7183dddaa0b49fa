import { StoreError } from '@batonjs/store';

/**
 * Milliseconds since 1970. Throws for text that is not a time: Redis does not undo a script that fails halfway, so
 * values that it cannot read must not reach one.
 */
export function timeOf(iso: string, what: string): number {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) throw new StoreError('INVALID_COMMIT', `${what} is no time: ${iso}`);
  return time;
}
