import type { TextStreamPart, ToolSet } from 'ai';

/** A part of the stream, or that something else happened; undefined at the end. */
export type Read = TextStreamPart<ToolSet> | 'woken' | undefined;

type Arrived = { readonly value: Read } | { readonly error: unknown };

/**
 * Reads the stream of a model together with other events. One reaction to each promise, however often `next` is called,
 * so that a long wait keeps no memory. `signal` ends the reading, also of a model that does not heed it.
 */
export function partReader(stream: AsyncIterable<TextStreamPart<ToolSet>>, signal: AbortSignal) {
  const onAbort = () => settle();
  const arrival: Arrived[] = [];
  let isReading = false;
  let isWoken = false;
  let settle = () => {};
  const parts = stream[Symbol.asyncIterator]();
  signal.addEventListener('abort', onAbort);

  function read(): void {
    if (isReading) return;
    isReading = true;
    parts.next().then(
      ({ done, value }) => arrive({ value: done ? undefined : value }),
      (error) => arrive({ error }),
    );
  }

  function arrive(arrived: Arrived): void {
    isReading = false;
    arrival.push(arrived);
    settle();
  }

  return {
    /** Makes a pending or the next `next()` resolve to `woken`. */
    wake(): void {
      isWoken = true;
      settle();
    },
    async next(): Promise<Read> {
      for (;;) {
        signal.throwIfAborted();
        const arrived = arrival.shift();
        if (arrived) {
          if ('error' in arrived) throw arrived.error;
          return arrived.value;
        }
        if (isWoken) {
          isWoken = false;
          return 'woken';
        }
        await new Promise<void>((resolve) => {
          settle = resolve;
          read();
        });
      }
    },
    /** Stops reading. */
    close(): void {
      signal.removeEventListener('abort', onAbort);
      parts.return?.().then(undefined, () => {});
    },
  };
}
