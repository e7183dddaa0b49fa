import { A2AError } from '@batonjs/protocol/errors';

export interface PositionedEvent {
  readonly id?: string | undefined;
  readonly event: unknown;
}

/** What a connection tells a call. */
export interface Answers {
  /** The most bytes of one answer. */
  readonly maxBytes: number;
  /** Whether an answer came already. */
  readonly isAnswered: boolean;
  /** Whether the call takes more: it is `done` with its only answer, or `full` until its reader has taken some. */
  take(result: unknown, position: string | undefined, bytes: number): 'more' | 'done' | 'full';
  /** The stream is over. */
  end(): void;
  fail(error: unknown): void;
}

/** The answer of a call that has one. */
export class SingleAnswer implements Answers {
  readonly maxBytes: number;
  isAnswered = false;
  readonly #settled = Promise.withResolvers<unknown>();
  readonly result: Promise<unknown> = this.#settled.promise;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    // A failure of a call that was left is not awaited.
    this.result.catch(() => {});
  }

  take(result: unknown): 'done' {
    this.isAnswered = true;
    this.#settled.resolve(result);
    return 'done';
  }

  end(): void {
    this.fail(new A2AError('INVALID_AGENT_RESPONSE', 'The call ended without a result'));
  }

  fail(error: unknown): void {
    this.#settled.reject(error);
  }
}

/** Bytes of events that may wait for their reader. More are read again, after the last one that was taken. */
const mostWaiting = 8_388_608;

/** The events of a stream, until its reader takes them. */
export class EventQueue implements Answers {
  readonly maxBytes: number;
  isAnswered = false;
  readonly #waiting: (PositionedEvent & { readonly bytes: number })[] = [];
  #bytes = 0;
  #isOver = false;
  #failure: unknown;
  #changed: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  take(event: unknown, id: string | undefined, bytes: number): 'more' | 'full' {
    this.isAnswered = true;
    this.#bytes += bytes;
    this.#waiting.push({ event, id, bytes });
    this.#changed?.();
    // Without a position nothing could be read again.
    return this.#bytes <= mostWaiting || id === undefined ? 'more' : 'full';
  }

  end(): void {
    this.#isOver = true;
    this.#changed?.();
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  /** The next event; undefined at the end. Rejects once the stream failed and all events before that were taken. */
  async next(): Promise<PositionedEvent | undefined> {
    for (;;) {
      const first = this.#waiting.shift();
      if (first) {
        this.#bytes -= first.bytes;
        return first;
      }
      if (this.#failure) throw (this.#failure as { error: unknown }).error;
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}
