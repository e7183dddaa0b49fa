import type { Updates } from './agent.ts';
import { append, artifact } from './builders.ts';

/** When text that was collected is put out. */
export interface CoalesceOptions {
  /** As soon as there is so much, in bytes of UTF-8. Default 1,024. */
  readonly bytes?: number;
  /** Or so long after the first of it came, in milliseconds. Default 100. */
  readonly ms?: number;
}

/** Small pieces of text, such as the tokens of a model, as fewer larger ones: nothing waits longer than `ms`. */
export async function* coalesce(
  pieces: AsyncIterable<string>,
  { bytes = 1_024, ms = 100 }: CoalesceOptions = {},
): AsyncGenerator<string, void, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  let next = iterator.next();
  let collected = '';
  let due: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const piece = await (due ? Promise.race([next, due]) : next);
      if (piece?.done) break;
      if (piece) {
        collected += piece.value;
        next = iterator.next();
        // Nobody may be waiting for it when it fails; it is awaited later.
        next.catch(() => {});
      }
      if (!piece || Buffer.byteLength(collected) >= bytes) {
        clearTimeout(timer);
        due = undefined;
        if (collected) yield collected;
        collected = '';
      } else if (collected && !due) {
        due = new Promise((resolve) => {
          timer = setTimeout(resolve, ms);
        });
      }
    }
    if (collected) yield collected;
  } finally {
    clearTimeout(timer);
    iterator.return?.().then(undefined, () => {});
  }
}

/** An artifact that grows as its text arrives, coalesced: `yield* streamed('answer', textStream)`. */
export async function* streamed(
  name: string,
  pieces: AsyncIterable<string>,
  options?: CoalesceOptions,
): Updates {
  let isFirst = true;
  for await (const text of coalesce(pieces, options)) {
    yield isFirst ? artifact(name, text) : append(name, text);
    isFirst = false;
  }
}
