import { remember } from '@batonjs/protocol/bounded-map';

/** How many logs are read at once. */
const atOnce = 32;

/**
 * Reads something of logs, in their order, and remembers the latest results. A log that cannot be read gives undefined, and
 * is read again the next time.
 */
export function remembered<Log, Value>(
  most: number,
  keyOf: (log: Log) => string,
  read: (log: Log) => Promise<Value | undefined>,
): (logs: readonly Log[]) => Promise<readonly (Value | undefined)[]> {
  const known = new Map<string, Value>();
  const readOne = async (log: Log): Promise<Value | undefined> => {
    const value = await read(log).catch(() => undefined);
    if (value === undefined) return undefined;
    remember(known, keyOf(log), value, most);
    return value;
  };
  return async (logs) => {
    const values: (Value | undefined)[] = [];
    for (let from = 0; from < logs.length; from += atOnce) {
      const part = logs.slice(from, from + atOnce).map((log) => known.get(keyOf(log)) ?? readOne(log));
      // Known results are not awaited: the list is read again twice a second.
      const isKnown = part.every((value) => !(value instanceof Promise));
      values.push(...(isKnown ? (part as Value[]) : await Promise.all(part)));
    }
    return values;
  };
}
