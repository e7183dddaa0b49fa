import { sseHeartbeat } from '@batonjs/server/adapter';
import { heartbeatsOf } from '@batonjs/server/internals';

/** The texts of a stream, and a comment whenever the server would send one: it keeps the connection open. */
export function withHeartbeat(texts: AsyncIterable<string>, server: object): AsyncIterableIterator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  const heartbeats = heartbeatsOf(server);
  let reading: Promise<IteratorResult<string>> | undefined;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      reading ??= iterator.next();
      const idle = Promise.withResolvers<IteratorResult<string>>();
      const expire = () => idle.resolve({ done: false, value: sseHeartbeat });
      const waiting = heartbeats.add({ expire });
      try {
        const result = await Promise.race([reading, idle.promise]);
        if (result.value !== sseHeartbeat) reading = undefined;
        return result;
      } finally {
        heartbeats.remove(waiting);
      }
    },
    async return() {
      // Not awaited: a generator that waits for an event would take it up only then.
      void iterator.return?.()?.catch(() => {});
      return { done: true, value: undefined };
    },
  };
}
