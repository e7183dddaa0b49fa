import { StoreError } from '@batonjs/store';

/**
 * Milliseconds since 1970. Rejects what is no time, because a script that fails in its middle is not undone: nothing that
 * Redis cannot read may reach one.
 */
export function timeOf(iso: string, what: string): number {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) throw new StoreError('INVALID_COMMIT', `${what} is no time: ${iso}`);
  return time;
}
