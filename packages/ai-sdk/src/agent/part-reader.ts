import type { TextStreamPart, ToolSet } from 'ai';

/** A part of the stream, or that something else happened; undefined at the end. */
export type Read = TextStreamPart<ToolSet> | 'woken' | undefined;

type Arrived = { readonly value: Read } | { readonly error: unknown };

/**
 * Reads the stream of a model together with other events. One reaction to each promise, however often `next` is called,
 * so that a long wait keeps no memory.
 */
export class PartReader {
  readonly #parts: AsyncIterator<TextStreamPart<ToolSet>>;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#settle();
  readonly #arrived: Arrived[] = [];
  #isReading = false;
  #isWoken = false;
  #settle = () => {};

  /** `signal` ends the reading, also of a model that does not heed it. */
  constructor(stream: AsyncIterable<TextStreamPart<ToolSet>>, signal: AbortSignal) {
    this.#parts = stream[Symbol.asyncIterator]();
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  /** Makes a pending or the next `next()` resolve to `woken`. */
  wake(): void {
    this.#isWoken = true;
    this.#settle();
  }

  async next(): Promise<Read> {
    for (;;) {
      this.#signal.throwIfAborted();
      const arrived = this.#arrived.shift();
      if (arrived) {
        if ('error' in arrived) throw arrived.error;
        return arrived.value;
      }
      if (this.#isWoken) {
        this.#isWoken = false;
        return 'woken';
      }
      await new Promise<void>((resolve) => {
        this.#settle = resolve;
        this.#read();
      });
    }
  }

  /** Stops reading. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#parts.return?.().then(undefined, () => {});
  }

  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#parts.next().then(
      ({ done, value }) => this.#arrive({ value: done ? undefined : value }),
      (error) => this.#arrive({ error }),
    );
  }

  #arrive(arrived: Arrived): void {
    this.#isReading = false;
    this.#arrived.push(arrived);
    this.#settle();
  }
}
