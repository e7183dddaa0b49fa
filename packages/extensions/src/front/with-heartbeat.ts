import { sseHeartbeat } from '@batonjs/server/adapter';

const heartbeatMs = 15_000;

/** The texts of a stream, and a comment after each 15 s without one: it keeps the connection open. */
export function withHeartbeat(texts: AsyncIterable<string>): AsyncIterableIterator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  let reading: Promise<IteratorResult<string>> | undefined;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      reading ??= iterator.next();
      const idle = Promise.withResolvers<IteratorResult<string>>();
      const timer = setTimeout(() => idle.resolve({ done: false, value: sseHeartbeat }), heartbeatMs);
      try {
        const result = await Promise.race([reading, idle.promise]);
        if (result.value !== sseHeartbeat) reading = undefined;
        return result;
      } finally {
        clearTimeout(timer);
      }
    },
    async return() {
      // Not awaited: a generator that waits for an event would take it up only then.
      void iterator.return?.()?.catch(() => {});
      return { done: true, value: undefined };
    },
  };
}
