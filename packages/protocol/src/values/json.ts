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

/** A body as text; undefined as soon as it has more than `maxBytes` bytes. `fatal`: rejects if it is not UTF-8. */
export async function readText(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  fatal = false,
): Promise<string | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal });
  let text = '';
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What a body consists of, for runtimes whose streams cannot be iterated. Leaving the loop cancels the body; it ends when `signal` aborts. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array> | null,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body?.getReader();
  // Not awaited: a source that is slow to stop must not delay the caller that leaves the loop.
  const leave = () => reader?.cancel().catch(() => {});
  signal?.addEventListener('abort', leave);
  try {
    for (;;) {
      const chunk = await reader?.read();
      if (!chunk?.value) return;
      yield chunk.value;
    }
  } finally {
    leave();
  }
}
