/** The last moment that is written with a year of four digits. */
const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * A time as ISO 8601, UTC, milliseconds. Throws `RangeError` unless it is from 1970 to 9999: other years are written in
 * more digits, and would not be in order as texts.
 */
export function momentOf(time: Date | number): string {
  const ms = Math.ceil(Number(time));
  if (!(ms >= 0 && ms <= last)) throw new RangeError(`A time is from 1970 to 9999, not ${String(time)}`);
  return new Date(ms).toISOString();
}
