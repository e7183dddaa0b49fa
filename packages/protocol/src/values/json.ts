/** A JSON object, as opposed to a list or a plain value. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object without members that are undefined: the object itself if it has none. */
export function compact<T extends object | false | undefined>(value: T): T {
  for (const name in value)
    if ((value as Record<string, unknown>)[name] === undefined)
      return Object.fromEntries(
        Object.entries(value as object).filter(([, member]) => member !== undefined),
      ) as T;
  return value;
}

/** The value of a JSON text; undefined for a text that is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether two JSON values are the same, whatever the order of members. Not `isDeepStrictEqual`: to import `node:util`
 * loads worker threads, performance hooks and more, 2 ms of every start.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (!isNested(one) || !isNested(other)) return one === other;
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  );
}

const isNested = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
