import { utf8Length } from '#bytes';
import type { Updates } from './agent.ts';
import { append, artifact } from './builders.ts';

/** When collected text is yielded, and when collecting ends early. */
export interface CoalesceOptions {
  /** Yields as soon as this much is collected, in bytes of UTF-8. Default 1,024. */
  readonly bytes?: number;
  /** Yields at the latest this long after the first collected piece, in milliseconds. Default 100. */
  readonly ms?: number;
  /** Rejects with the reason of this signal once it is aborted, whether the source goes on, ends early or throws. */
  readonly signal?: AbortSignal;
}

/** Joins small pieces of text, such as the tokens of a model, into larger ones. No piece waits longer than `ms`. */
export async function* coalesce(
  pieces: AsyncIterable<string>,
  { bytes = 1_024, ms = 100, signal }: CoalesceOptions = {},
): AsyncGenerator<string, void, void> {
  let stop = () => {};
  const onAbort = () => stop();
  signal?.addEventListener('abort', onAbort);
  const iterator = pieces[Symbol.asyncIterator]();
  let next = iterator.next();
  // Not awaited if the signal is aborted first: without this, its rejection would be unhandled.
  next.catch(() => {});
  let collected = '';
  let due: Promise<undefined> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      signal?.throwIfAborted();
      // Not a race against one promise of the signal: that promise would keep memory of every piece until the end.
      const piece = await new Promise<IteratorResult<string> | undefined>((resolve, reject) => {
        stop = () => reject(signal?.reason);
        Promise.race(due ? [next, due] : [next]).then(resolve, reject);
      });
      if (piece?.done) break;
      if (piece) {
        collected += piece.value;
        next = iterator.next();
        // The loop may end before it awaits this promise.
        next.catch(() => {});
      }
      if (!piece || utf8Length(collected) >= bytes) {
        clearTimeout(timer);
        due = undefined;
        if (collected) yield collected;
        collected = '';
      } else if (collected && !due) {
        due = new Promise((resolve) => {
          timer = setTimeout(resolve, ms, undefined);
        });
      }
    }
    if (collected) yield collected;
    signal?.throwIfAborted();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    iterator.return?.().then(undefined, () => {});
  }
}

/** Options of `streamed`. */
export interface StreamedOptions extends CoalesceOptions {
  /**
   * Whether the artifact ends with its whole text once more, as its last chunk, for clients that keep only this one, such
   * as Google's ADK. Default false.
   */
  readonly whole?: boolean;
}

/**
 * An artifact that grows as its text arrives, coalesced: `yield* streamed('answer', textStream, { signal })`. Throws if
 * the source ends without any text, or if `signal` (that of the turn) is aborted: a partial text is no answer.
 */
export async function* streamed(
  name: string,
  pieces: AsyncIterable<string>,
  { whole = false, ...options }: StreamedOptions = {},
): Updates {
  let isFirst = true;
  let all = '';
  for await (const text of coalesce(pieces, options)) {
    yield isFirst ? artifact(name, text) : append(name, text);
    isFirst = false;
    if (whole) all += text;
  }
  if (isFirst) throw new Error(`The source of the artifact "${name}" ended without any text`);
  if (whole) yield artifact({ name, lastChunk: true }, all);
}
